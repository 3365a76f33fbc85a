"""The floor: the product's own statements sent straight to PostgreSQL, from as many connections as asked for."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg

from benchmarks.load import Loaded, message, session_id
from sessions_app.ids import new_id
from stores_app.session.actions import _APPEND_ONE, _COPY_TYPES, COPY_MESSAGES
from stores_app.session.rules import read_message


class RawWriter:
    """Prepared statements over connections of its own; ids and values are made before the clock starts."""

    def __init__(self, url: str, loaded: Loaded, clients: int) -> None:
        self._loaded = loaded
        self._connections = [psycopg.connect(url, autocommit=True) for _ in range(clients)]
        self._threads = ThreadPoolExecutor(clients)

    def prepare(self, sessions: Sequence[int], count: int) -> list[list[dict[str, Any]]]:
        """Values of `count` single appends for each client, each to a session of its own."""
        return [[self._values(session) for _ in range(count)] for session in sessions]

    def append_each(self, values: list[list[dict[str, Any]]]) -> None:
        """Every message is committed by a statement of its own."""
        list(self._threads.map(_append_each, self._connections, values))

    def rows(self, session: int, first_seq: int, count: int) -> list[tuple[Any, ...]]:
        """So many rows for `copy_each`."""
        at, rows = datetime.now(UTC), []
        for seq in range(first_seq, first_seq + count):
            raw = message(seq)
            facts = read_message(raw)
            rows.append(
                (
                    session, seq, self._loaded.tenant_pk, new_id("msg"), facts.role, at, raw, None,
                    facts.tool_call_id, facts.call_ids, "key:benchmark",
                )
            )  # fmt: skip
        return rows

    def copy_each(self, batches: list[list[tuple[Any, ...]]]) -> None:
        """Every batch is committed by a COPY of its own, in binary form."""
        for rows in batches:
            with self._connections[0].cursor() as cursor, cursor.copy(COPY_MESSAGES) as copy:
                copy.set_types(_COPY_TYPES)
                for row in rows:
                    copy.write_row(row)

    def close(self) -> None:
        """All connections are closed."""
        self._threads.shutdown()
        for connection in self._connections:
            connection.close()

    def _values(self, session: int) -> dict[str, Any]:
        raw = message(session)
        facts = read_message(raw)
        return {
            "count": 1,
            "now": datetime.now(UTC),
            "user_line": facts.user_line,
            "tenant_id": self._loaded.tenant_pk,
            "session_id": session_id(session),
            "actor_kind": None,
            "actor_ref": None,
            "public_id": new_id("msg"),
            "role": facts.role,
            "raw": raw,
            "tool_call_id": facts.tool_call_id,
            "call_ids": facts.call_ids,
            "written_by": "key:benchmark",
        }


def _append_each(connection: "psycopg.Connection[Any]", values: list[dict[str, Any]]) -> None:
    with connection.cursor(binary=True) as cursor:
        for one in values:
            assert cursor.execute(_APPEND_ONE, one, prepare=True).fetchone() is not None
