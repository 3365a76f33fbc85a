"""The writers of messages, a hot path around the ORM: one prepared statement for one, COPY for many."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, cast

import psycopg
from django.db import IntegrityError, OperationalError, connection, transaction

from sessions_app.access.rules import Principal
from sessions_app.hierarchy.errors import NotCurrentOwner, SessionArchived
from sessions_app.hierarchy.models import Session
from sessions_app.hierarchy.rules import actor_key
from sessions_app.ids import new_id
from sessions_app.wire.errors import IdempotencyInProgress, NotFound
from sessions_app.wire.idempotency import WAIT_MS, CallKey, CallRepeated
from sessions_app.wire.news import tell_after_commit
from stores_app.session.models import Message, RenderedMessage
from stores_app.session.rules import MessageFacts

# Numbered under the session's row lock: a reader that follows the numbers never skips one that commits late.
_UPDATE = """
    UPDATE sessions_app_session
    SET last_seq = last_seq + %(count)s, last_message_at = %(now)s,
        first_user_line = COALESCE(first_user_line, %(user_line)s::varchar)
"""
_OF_SESSION = """
    WHERE tenant_id = %(tenant_id)s AND public_id = %(session_id)s AND sealed_at IS NULL
      AND (owner_kind IS NULL OR (owner_kind = %(actor_kind)s::text AND owner_ref = %(actor_ref)s::text))
    RETURNING id, last_seq
"""
_TAKE_NUMBERS = _UPDATE + _OF_SESSION
_INSERT = """
    INSERT INTO stores_app_message
        (session_id, seq, tenant_id, public_id, role, at, raw, tool_call_id, call_ids, written_by)
    SELECT id, last_seq, %(tenant_id)s, %(public_id)s, %(role)s, %(now)s, %(raw)s, %(tool_call_id)s::text,
           %(call_ids)s::text[], %(written_by)s
    FROM session
    RETURNING seq, session_id
"""
_APPEND_ONE = f"WITH session AS ({_TAKE_NUMBERS}) {_INSERT}"
# The same with the answer stored beside it: a repeated call fails on the key and with it the whole statement.
_APPEND_ONE_KEYED = f"""
    WITH patience AS MATERIALIZED (SELECT set_config('lock_timeout', '{WAIT_MS}', true)),
    session AS ({_UPDATE} FROM patience {_OF_SESSION}),
    message AS ({_INSERT}),
    answer AS (
        INSERT INTO sessions_app_storedanswer (digest, body_sha256, status, answer, created_at)
        SELECT %(digest)s, %(body_sha256)s, 201,
               convert_to('{{"ids":["' || %(public_id)s || '"],"lastSeq":' || last_seq || '}}', 'UTF8'), %(now)s
        FROM session
    )
    SELECT seq, session_id FROM message
"""  # noqa: S608 - the text is made of constants
COPY_MESSAGES = """
    COPY stores_app_message
        (session_id, seq, tenant_id, public_id, role, at, raw, envelope, tool_call_id, call_ids, written_by)
    FROM STDIN (FORMAT BINARY)
"""
_COPY_TYPES = (
    "int8", "int8", "int8", "varchar", "varchar", "timestamptz", "bytea", "bytea", "text", "text[]", "varchar",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NewMessage:
    """One message to be kept: its JSON text and what was extracted from it.

    `public_id`, `at` and `envelope` are set for an imported one; else they are made here.
    """

    raw: bytes
    facts: MessageFacts
    public_id: str | None = None
    at: datetime | None = None
    envelope: bytes | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append made: the ids in order, and the number of the last message."""

    ids: list[str]
    last_seq: int


def append_message(
    *,
    tenant_id: int,
    session_id: str,
    message: NewMessage,
    by: Principal,
    actor: dict[str, Any] | None,
    now: datetime,
    call: CallKey | None = None,
) -> Appended:
    """The id and number of the message, which is there once this returns (domain.md §3).

    `session_id` is the public id. One statement, so one round trip and one commit. Raises NotFound, SessionArchived
    or NotCurrentOwner; with a `call` also CallRepeated or IdempotencyInProgress. `actor` is who acts, None where nobody
    is named.
    """
    statement, values = prepare_append(
        tenant_id=tenant_id, session_id=session_id, message=message, by=by, actor=actor, now=now, call=call
    )
    row = _run_append(statement, values)
    if row is None:
        raise _why_refused(tenant_id, session_id)
    tell_after_commit(row[1])
    return Appended(ids=[values["public_id"]], last_seq=row[0])


def prepare_append(
    *,
    tenant_id: int,
    session_id: str,
    message: NewMessage,
    by: Principal,
    actor: dict[str, Any] | None,
    now: datetime,
    call: CallKey | None = None,
) -> tuple[LiteralString, dict[str, Any]]:
    """The one statement of an append and its values; it gives the number and the session's key, or nothing."""
    values = _numbering(tenant_id, session_id, [message], actor, now) | {
        "public_id": new_id("msg"),
        "role": message.facts.role,
        "raw": message.raw,
        "tool_call_id": message.facts.tool_call_id,
        "call_ids": message.facts.call_ids,
        "written_by": str(by),
    }
    if call is None:
        return _APPEND_ONE, values
    return _APPEND_ONE_KEYED, values | {"digest": call.digest, "body_sha256": call.body_sha256}


def appended_record(ids: list[str], last_seq: int) -> dict[str, Any]:
    """What an append made, on the wire; the keyed statement makes the same text itself."""
    return {"ids": ids, "lastSeq": last_seq}


def _run_append(statement: LiteralString, values: dict[str, Any]) -> tuple[int, int] | None:
    try:
        with _raw_cursor(binary=True) as cursor:
            return cursor.execute(statement, values, prepare=True).fetchone()
    except IntegrityError as error:
        cause = error.__cause__
        if isinstance(cause, psycopg.Error) and cause.diag.constraint_name == "sessions_app_storedanswer_pkey":
            raise CallRepeated from None
        raise
    except OperationalError as error:
        if "digest" in values and isinstance(error.__cause__, psycopg.errors.LockNotAvailable):
            raise IdempotencyInProgress from None
        raise


@transaction.atomic
def append_messages(
    *,
    tenant_id: int,
    session_id: str,
    messages: Sequence[NewMessage],
    by: Principal,
    actor: dict[str, Any] | None,
    now: datetime,
) -> Appended:
    """Ids and last number of the messages: all of them are kept, or none. Raises as `append_message` does."""
    values = _numbering(tenant_id, session_id, messages, actor, now)
    with _raw_cursor(binary=True) as cursor:
        row = cursor.execute(_TAKE_NUMBERS, values, prepare=True).fetchone()
    if row is None:
        raise _why_refused(tenant_id, session_id)
    session_pk, last_seq = row
    tell_after_commit(session_pk)
    ids = copy_messages(
        tenant_id=tenant_id,
        session_pk=session_pk,
        first_seq=last_seq - len(messages) + 1,
        messages=messages,
        by=by,
        now=now,
    )
    return Appended(ids=ids, last_seq=last_seq)


def copy_messages(
    *, tenant_id: int, session_pk: int, first_seq: int, messages: Iterable[NewMessage], by: Principal, now: datetime
) -> list[str]:
    """The ids of the messages, written by COPY from `first_seq` on; the caller holds the session's lock."""
    written_by, ids = str(by), []
    with _raw_cursor() as cursor, cursor.copy(COPY_MESSAGES) as copy:
        copy.set_types(_COPY_TYPES)
        for seq, message in enumerate(messages, first_seq):
            public_id = message.public_id or new_id("msg")
            ids.append(public_id)
            facts = message.facts
            copy.write_row(
                (
                    session_pk, seq, tenant_id, public_id, facts.role, message.at or now, message.raw,
                    message.envelope, facts.tool_call_id, facts.call_ids, written_by,
                )
            )  # fmt: skip
    return ids


def delete_messages(session_pk: int) -> None:
    """All messages of a session that is being deleted are gone; the caller holds the session's lock."""
    RenderedMessage.objects.filter(session_id=session_pk).delete()
    Message.objects.filter(session_id=session_pk).delete()


def _numbering(
    tenant_id: int, session_id: str, messages: Sequence[NewMessage], actor: dict[str, Any] | None, now: datetime
) -> dict[str, Any]:
    kind, ref = actor_key(actor) if actor else (None, None)
    return {
        "count": len(messages),
        "now": now,
        "user_line": next((line for message in messages if (line := message.facts.user_line)), None),
        "tenant_id": tenant_id,
        "session_id": session_id,
        "actor_kind": kind,
        "actor_ref": ref,
    }


def _why_refused(tenant_id: int, session_id: str) -> NotFound | SessionArchived | NotCurrentOwner:
    session = Session.objects.for_tenant(tenant_id).filter(public_id=session_id).first()
    if session is None:
        return NotFound("session", session_id)
    if session.sealed_at is not None:
        return SessionArchived(sessionId=session_id)
    return NotCurrentOwner(sessionId=session_id, currentActor=session.current_actor)


@contextmanager
def _raw_cursor(*, binary: bool = False) -> "Iterator[psycopg.Cursor[Any]]":
    """psycopg's own cursor below Django's, for prepared statements with binary values and for COPY.

    Django looks after its connection only where its own cursors are used: here it is asked to, so that a connection
    that was lost is replaced, and that what the database says reaches the caller as Django's errors.
    """
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    raw = cast("psycopg.Connection[Any]", connection.connection)
    with connection.wrap_database_errors, raw.cursor(binary=binary) as cursor:
        yield cursor
