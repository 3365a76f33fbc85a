"""The writers of sessions."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from sessions_app.access.actions import record_audit
from sessions_app.access.errors import InsufficientScope
from sessions_app.access.rules import Principal, Scope
from sessions_app.events.actions import emit_event, forget_log
from sessions_app.hierarchy.actions.rows import Check, check_not_sealed, check_writer, emit_of_session, insert
from sessions_app.hierarchy.errors import ImmutableField, SessionHasSubSessions
from sessions_app.hierarchy.models import Project, Session, SubSession
from sessions_app.hierarchy.rules import changed_fields, check_session_transition
from sessions_app.ids import new_id
from sessions_app.wire.errors import NotFound

OWNER_FIELDS = frozenset({"currentActor", "previousActors", "ownerVersion"})


@transaction.atomic
def create_session(
    *,
    project: Project,
    current_actor: dict[str, Any] | None,
    by: Principal,
    now: datetime,
    label: str | None = None,
    public_id: str | None = None,
) -> Session:
    """The new root session at `idle`; raises IdTaken. `current_actor` has been checked (domain.md §3)."""
    session = new_session(project, current_actor, now, label=label, public_id=public_id)
    session.root_id = session.pk
    insert(session, session.public_id)
    record_session_created(session, by, now)
    return session


@transaction.atomic(savepoint=False)  # its caller has a transaction of its own, with the messages in it
def import_session(*, session: Session, by: Principal, now: datetime) -> Session:
    """The session as it was recorded elsewhere, a root until its edge is linked; raises IdTaken.

    `session` is not saved yet, its key comes from `take_keys`: its messages may have been written before it.
    """
    session.root_id = session.pk
    insert(session, session.public_id)
    record_session_created(session, by, now, action="session.imported")
    return session


@transaction.atomic
def replace_session(
    *,
    session: Session,
    wanted: dict[str, Any],
    record: Callable[[Session], dict[str, Any]],
    check: Check,
    repair: bool,
    by: Principal,
    now: datetime,
) -> Session:
    """The session after a PUT of its whole record: label, status (by hand, §4) and workspace may differ.

    `record` gives the session on the wire. With `repair` an administrator may also set the owner fields. Raises
    ImmutableField, IllegalTransition, SessionArchived, NotCurrentOwner, InsufficientScope.
    """
    locked = Session.objects.select_for_update(no_key=True, of=("self",)).select_related("project")
    found = locked.filter(pk=session.pk).first()
    if found is None:
        raise NotFound("session", session.public_id)
    session = found
    check(session)
    check_not_sealed(session)
    check_writer(session, by)
    before = record(session)
    changed = set(changed_fields(before, wanted, ignored={"updatedAt"}))
    _check_changeable(changed, repair, by)
    if not changed:
        return session
    check_session_transition(session.status, wanted["status"], by_hand=True)
    session.label, session.status = wanted.get("label"), wanted["status"]
    session.workspace_ref = wanted["workspaceId"]
    if repair:
        session.current_actor, session.previous_actors = wanted["currentActor"], wanted["previousActors"]
        session.owner_version = wanted["ownerVersion"]
    session.updated_at = now
    session.save()
    _record_replaced(session, before, record(session), changed, by, now)
    return session


def _check_changeable(changed: set[str], repair: bool, by: Principal) -> None:
    if changed & OWNER_FIELDS and repair and by.scope < Scope.ADMIN:
        raise InsufficientScope(required=Scope.ADMIN.word, actual=by.scope.word)
    changeable = {"label", "status", "workspaceId"} | (OWNER_FIELDS if repair else frozenset())
    if changed - changeable:
        raise ImmutableField(sorted(changed - changeable))


def _record_replaced(
    session: Session, before: dict[str, Any], after: dict[str, Any], changed: set[str], by: Principal, now: datetime
) -> None:
    repaired = bool(changed & OWNER_FIELDS)
    record_audit(
        tenant_id=session.tenant_id,
        by=by,
        action="session.repaired" if repaired else "session.changed",
        target=session.public_id,
        now=now,
        before={name: before.get(name) for name in sorted(changed)},
        after={name: after.get(name) for name in sorted(changed)},
    )
    kinds = {"status": "session.status_changed", "label": "session.labelled"}
    emitted = [(kinds[name], {"from": before.get(name), "to": after.get(name)}) for name in kinds if name in changed]
    if changed - kinds.keys():
        emitted.append(("session.repaired" if repaired else "session.changed", {"fields": sorted(changed)}))
    for kind, payload in emitted:
        emit_of_session(session, kind, now, {"sessionId": session.public_id, **payload})


@transaction.atomic
def delete_session(
    *,
    session: Session,
    check: Check,
    forget_kept: Callable[[int], None],
    by: Principal,
    now: datetime,
) -> None:
    """The session is gone, with its log and with what `forget_kept(key)` removes; raises SessionHasSubSessions."""
    locked = Session.objects.select_for_update().filter(pk=session.pk).select_related("project").first()
    if locked is None:
        return
    check(locked)
    if locked.depth or SubSession.objects.filter(parent_id=locked.pk).exists():
        raise SessionHasSubSessions(sessionId=locked.public_id)
    forget_kept(locked.pk)
    forget_log(root_id=locked.pk)
    before = {"status": locked.status, "currentActor": locked.current_actor, "label": locked.label}
    tenant_id, project_id, public_id = locked.tenant_id, locked.project_id, locked.public_id
    with connection.cursor() as cursor:  # a root names itself as its root, which Django would take for an obstacle
        cursor.execute("DELETE FROM sessions_app_session WHERE id = %s", [locked.pk])
    record_audit(tenant_id=tenant_id, by=by, action="session.deleted", target=public_id, now=now, before=before)
    emit_event(
        tenant_id=tenant_id,
        project_id=project_id,
        root_id=None,
        kind="session.deleted",
        now=now,
        payload={"sessionId": public_id},
    )


def new_session(
    project: Project,
    current_actor: dict[str, Any] | None,
    now: datetime,
    *,
    label: str | None,
    public_id: str | None = None,
) -> Session:
    """A session that is not saved yet, its key taken: a root names itself as its root."""
    return Session(
        pk=take_keys(1)[0],
        tenant_id=project.tenant_id,
        project=project,
        public_id=public_id or new_id("ses"),
        label=label,
        current_actor=current_actor,
        created_at=now,
        updated_at=now,
    )


def take_keys(count: int) -> list[int]:
    """Fresh primary keys for sessions."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('sessions_app_session', 'id')) FROM generate_series(1, %s)", [count]
        )
        return [row[0] for row in cursor.fetchall()]


def record_session_created(session: Session, by: Principal, now: datetime, *, action: str = "session.created") -> None:
    after = {"status": session.status, "currentActor": session.current_actor, "label": session.label}
    tenant_id, public_id = session.tenant_id, session.public_id
    record_audit(tenant_id=tenant_id, by=by, action=action, target=public_id, now=now, after=after)
    emit_event(
        tenant_id=tenant_id,
        project_id=session.project_id,
        root_id=session.root_id,
        kind="session.created",
        now=now,
        session_id=session.pk,
        payload={"sessionId": public_id},
    )
