"""Fills a database with many sessions and messages, quickly: COPY in binary form, lineage as the product writes it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from sessions_app.hierarchy.rules import PROJECT_DEFAULTS, child_path
from stores_app.session.actions import _COPY_TYPES, COPY_MESSAGES

WIDTH, DEPTH = 8, 4
TENANT = "tnt_benchmark"
PROJECT = "prj_benchmark"
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_OWNER = {"kind": "agent", "agentId": "agt_benchmark", "tenantId": TENANT}
_STATUSES = ("idle", "idle", "idle", "idle", "idle", "idle", "active", "failed")
_COPY_SESSIONS = """
    COPY sessions_app_session
        (id, tenant_id, project_id, public_id, label, status, current_actor, previous_actors, owner_version, root_id,
         depth, path, last_seq, extra, created_at, updated_at)
    FROM STDIN (FORMAT BINARY)
"""
_SESSION_TYPES = (
    "int8", "int8", "int8", "varchar", "varchar", "varchar", "jsonb", "jsonb", "int8", "int8",
    "int2", "text", "int8", "jsonb", "timestamptz", "timestamptz",
)  # fmt: skip
_COPY_EDGES = """
    COPY sessions_app_subsession
        (tenant_id, public_id, parent_id, child_id, kind, status, spawned_by, spawned_at, failure_mode,
         completion_mode, extra, updated_at)
    FROM STDIN (FORMAT BINARY)
"""
_EDGE_TYPES = (
    "int8", "varchar", "int8", "int8", "varchar", "varchar", "jsonb", "timestamptz", "varchar",
    "varchar", "jsonb", "timestamptz",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Planted:
    """One session of the trees."""

    pk: int
    parent: int | None
    root: int
    depth: int
    path: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Loaded:
    """Database keys of the tenant and its project."""

    tenant_pk: int
    project_pk: int


def load(url: str, *, sessions: int) -> Loaded:
    """A project with so many sessions, in trees of width 8 and depth 4; statistics are up to date."""
    with psycopg.connect(url) as connection:
        loaded = Loaded(*_project(connection))
        with connection.cursor() as cursor:
            _copy(cursor, _COPY_SESSIONS, _SESSION_TYPES, (_session(loaded, one) for one in plant(sessions)))
            _copy(cursor, _COPY_EDGES, _EDGE_TYPES, (_edge(loaded, one) for one in plant(sessions) if one.depth))
        last = "SELECT setval(pg_get_serial_sequence('sessions_app_session', 'id'), %s)"
        connection.execute(last, [max(sessions, 1)])
    settle(url)
    return loaded


def load_messages(url: str, loaded: Loaded, *, session_pk: int, messages: int) -> None:
    """The session, which had none, has so many messages."""
    with psycopg.connect(url) as connection:
        with connection.cursor() as cursor:
            rows = (_message(loaded, session_pk, seq) for seq in range(1, messages + 1))
            _copy(cursor, COPY_MESSAGES, _COPY_TYPES, rows)
        counted = "UPDATE sessions_app_session SET last_seq = %s, last_message_at = %s WHERE id = %s"
        connection.execute(counted, [messages, _EPOCH, session_pk])
    settle(url)


def settle(url: str) -> None:
    """Nothing is left to be done behind the measurement: tables vacuumed, statistics made, pages written."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM (ANALYZE)")


def session_id(pk: int) -> str:
    """The public id of a session that was loaded."""
    return f"ses_{pk:026d}"


def plant(count: int) -> Iterator[Planted]:
    """So many sessions, tree by tree and within it level by level; the last tree is cut off."""
    pk = 0
    while pk < count:
        root = pk + 1
        level = [Planted(root, None, root, 0, "", _EPOCH + timedelta(milliseconds=root))]
        while level and level[0].depth <= DEPTH:
            for one in level[: count - pk]:
                pk += 1
                yield one
            level = list(_below(level[: pk + 1 - level[0].pk], pk)) if pk < count else []


def _below(parents: list[Planted], pk: int) -> Iterator[Planted]:
    for parent in parents:
        for _ in range(WIDTH):
            pk += 1
            at = _EPOCH + timedelta(milliseconds=pk)
            yield Planted(pk, parent.pk, parent.root, parent.depth + 1, child_path(parent.path, at, _edge_id(pk)), at)


def _edge_id(child_pk: int) -> str:
    return f"sub_{child_pk:026d}"


def _project(connection: "psycopg.Connection[Any]") -> tuple[int, int]:
    statement = """
        INSERT INTO sessions_app_project (tenant_id, public_id, name, config, extra, created_at, updated_at)
        SELECT id, %s, 'Benchmark', %s, '{}', %s, %s FROM sessions_app_tenant WHERE public_id = %s
        RETURNING tenant_id, id
    """
    row = connection.execute(statement, [PROJECT, Jsonb(PROJECT_DEFAULTS), _EPOCH, _EPOCH, TENANT]).fetchone()
    assert row is not None
    return row[0], row[1]


def _session(loaded: Loaded, one: Planted) -> tuple[Any, ...]:
    status = _STATUSES[one.pk % len(_STATUSES)]
    owner = Jsonb(_OWNER) if one.pk % 2 else None
    return (
        one.pk, loaded.tenant_pk, loaded.project_pk, session_id(one.pk), f"Piece of work {one.pk}", status, owner,
        Jsonb([]), 0, one.root, one.depth, one.path, 0, Jsonb({}), one.at, one.at,
    )  # fmt: skip


def _edge(loaded: Loaded, one: Planted) -> tuple[Any, ...]:
    return (
        loaded.tenant_pk, _edge_id(one.pk), one.parent, one.pk, "agent_spawn", "idle", Jsonb(_OWNER), one.at,
        "delegate", "summary_ref", Jsonb({}), one.at,
    )  # fmt: skip


def _message(loaded: Loaded, session_pk: int, seq: int) -> tuple[Any, ...]:
    role = ("user", "assistant")[seq % 2]
    public_id = f"msg_{session_pk:012d}_{seq:012d}"
    at = _EPOCH + timedelta(seconds=seq)
    return session_pk, seq, loaded.tenant_pk, public_id, role, at, message(seq, role), None, None, None, "key:benchmark"


def message(number: int, role: str = "user") -> bytes:
    """A message of about 1 kB, 0.8 kB of it text."""
    line = (
        f"Step {number}: the **total** of order {number * 7919 % 100_003} is read from `shop/totals.py` and compared. "
    )
    content = (line * 9)[:800]
    return json.dumps(
        {"role": role, "content": content, "timestamp": 1_767_225_600_000 + number, "model": "m" * 100}
    ).encode()


def _copy(
    cursor: "psycopg.Cursor[Any]", statement: str, types: tuple[str, ...], rows: Iterator[tuple[Any, ...]]
) -> None:
    with cursor.copy(statement.encode()) as copy:
        copy.set_types(types)
        for row in rows:
            copy.write_row(row)
