"""The one writer of tree logs."""

from datetime import datetime
from typing import Any

from django.db import connection

from sessions_app.events.models import Event, EventLog


def emit_event(
    *,
    tenant_id: int,
    project_id: int,
    root_id: int | None,
    kind: str,
    now: datetime,
    session_id: int | None = None,
    sub_session_id: str | None = None,
    payload: dict[str, Any] | None = None,
) -> Event:
    """The new event, numbered next in the log of its tree (of its project where `root_id` is None).

    Call it last in the transaction: it locks the log's counter until the commit (domain.md §15).
    """
    log_id, seq = _next_seq(tenant_id, project_id, root_id, count=1)
    return Event.objects.create(
        tenant_id=tenant_id,
        log_id=log_id,
        seq=seq,
        kind=kind,
        session_id=session_id,
        sub_session_id=sub_session_id,
        payload=payload or {},
        at=now,
    )


def forget_log(*, root_id: int) -> None:
    """The log of a tree is gone, because its last session goes; what happened to it is said in the project's log."""
    Event.objects.filter(log__root_id=root_id).delete()
    EventLog.objects.filter(root_id=root_id).delete()


def _next_seq(tenant_id: int, project_id: int, root_id: int | None, *, count: int) -> tuple[int, int]:
    """Id of the log and the last of `count` numbers taken from it."""
    conflict = "(root_id)" if root_id is not None else "(project_id) WHERE root_id IS NULL"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO sessions_app_eventlog AS log (tenant_id, project_id, root_id, last_seq)
            VALUES (%s, %s, %s, %s)
            ON CONFLICT {conflict} DO UPDATE SET last_seq = log.last_seq + excluded.last_seq
            RETURNING id, last_seq
            """,  # noqa: S608 - the target is one of the two constants above
            [tenant_id, project_id, root_id, count],
        )
        log_id, seq = cursor.fetchone()
    return log_id, seq
