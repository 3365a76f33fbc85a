"""The single append without a thread: the most frequent call of all takes the straightest way (docs/decisions/0008).

Only what is certain to be in order goes this way: a key that is known already, one message in JSON, of moderate size.
Everything else, and everything that the database refuses, is answered by the API as it stands, which looks at it anew.
"""

import asyncio
import logging
import re
import select
from collections import deque
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec
import psycopg

from namzu_site.front.bridge import Answer, Scope, answer_of, header
from namzu_site.http_errors import problem_of
from sessions_app.access.rules import Scope as KeyScope
from sessions_app.ids import BadId, check_id
from sessions_app.wire.authentication import ApiKeyBearer, Credential
from sessions_app.wire.errors import DatabaseUnavailable, DomainError
from sessions_app.wire.idempotency import CallKey, check_key
from sessions_app.wire.json import is_plain, slice_object
from sessions_app.wire.news import told
from sessions_app.wire.times import now_ms
from stores_app.session.actions import NewMessage, appended_record, prepare_append
from stores_app.session.rules import read_message

MOST_BYTES = 64 * 1024  # longer texts are parsed in a thread, where they hold nobody else up
CONNECTIONS = 8  # of a process; more appends at once wait their turn rather than use up the server's
_PATH = re.compile(r"/api/v1/tenants/([^/]+)/sessions/([^/]+)/messages", re.ASCII)
log = logging.getLogger(__name__)

_HEADERS = [
    (b"content-type", b"application/json"),
    (b"vary", b"Accept-Encoding"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"private, no-cache"),
]


class Appends:
    """Appends of one process, through database connections of its own."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = dict(parameters)
        self._places = asyncio.Semaphore(CONNECTIONS)
        self._idle: deque[psycopg.AsyncCursor[Any]] = deque()

    @staticmethod
    def takes(scope: Scope) -> bool:
        """Whether the call may go this way, by its head alone."""
        return (
            scope["method"] == "POST"
            and scope["path"].endswith("/messages")
            and header(scope, b"content-type") == b"application/json"
            and header(scope, b"content-encoding") is None
            and 0 < int(header(scope, b"content-length") or 0) <= MOST_BYTES
        )

    async def answer(self, scope: Scope, body: BinaryIO) -> Answer | None:
        """The answer to an append that was made; None where the API has to look at the call."""
        path = _PATH.fullmatch(scope["path"])
        credential = ApiKeyBearer.known((header(scope, b"authorization") or b"").decode("latin-1"))
        if path is None or credential is None or not _may_write(credential, path[1]):
            return None
        try:
            statement, values = _prepare(credential, scope, check_id("ses", path[2]), body.read())
        except (BadId, DomainError, _NotForHere):
            return None
        try:
            row = await self._execute(statement, values)
        except psycopg.OperationalError as error:
            log.error("append: %s", str(error).strip())
            return _unavailable()
        if row is None:
            return None
        told.append(row[1])
        content = msgspec.json.encode(appended_record([values["public_id"]], row[0]))
        return Answer(201, [*_HEADERS, (b"content-length", str(len(content)).encode())], content, None)

    async def _execute(self, statement: Any, values: dict[str, Any]) -> Any:
        """The row that was made, None where the database refused. A lost connection is not tried again: who knows?"""
        async with self._places:
            cursor = await self._cursor()
            try:
                await cursor.execute(statement, values, prepare=True)
                row = await cursor.fetchone()
            except psycopg.Error as error:
                if error.sqlstate is None or cursor.connection.broken:
                    await cursor.connection.close()
                    raise
                row = None
            self._idle.append(cursor)
            return row

    async def _cursor(self) -> "psycopg.AsyncCursor[Any]":
        while self._idle:
            cursor = self._idle.pop()
            if not _hung_up(cursor.connection.fileno()):
                return cursor
            await cursor.connection.close()
        return await self._connect()

    async def _connect(self) -> "psycopg.AsyncCursor[Any]":
        """The cursor of a new connection, kept with it: making one costs as much as parsing a message."""
        connection = await psycopg.AsyncConnection.connect(**self._parameters, autocommit=True, prepare_threshold=0)
        return connection.cursor(binary=True)

    async def stop(self) -> None:
        """Closes the connections."""
        while self._idle:
            await self._idle.pop().connection.close()


def _unavailable() -> Answer:
    """Not tried again here: nobody knows whether the append was made, and only the caller can repeat it safely."""
    problem = problem_of(DatabaseUnavailable())
    problem["Retry-After"] = "1"
    return answer_of(problem)


def _hung_up(descriptor: int) -> bool:
    """Whether the server has closed an idle connection: there is something to read where nothing was asked for."""
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class _NotForHere(Exception):
    """The body asks for more than one plain append."""


def _may_write(credential: Credential, tenant_id: str) -> bool:
    tenant, principal = credential.tenant, credential.principal
    return tenant is not None and tenant.public_id == tenant_id and principal.scope >= KeyScope.RUNNER


def _prepare(credential: Credential, scope: Scope, session_id: str, body: bytes) -> tuple[Any, dict[str, Any]]:
    key = header(scope, b"idempotency-key")
    plain = is_plain(body)
    members = slice_object(body, plain=plain)
    if members.keys() != {"message"} or credential.tenant is None:
        raise _NotForHere
    raw = members["message"]
    return prepare_append(
        tenant_id=credential.tenant.pk,
        session_id=session_id,
        message=NewMessage(raw=raw, facts=read_message(raw, plain=plain)),
        by=credential.principal,
        actor=credential.principal.actor,
        now=now_ms(),
        call=None if key is None else _call(credential, scope, key.decode("latin-1"), body),
    )


def _call(credential: Credential, scope: Scope, key: str, body: bytes) -> CallKey:
    return CallKey.of(credential.principal, "POST", scope["path"], check_key(key), "application/json", body)
