"""The writers of edges, and of the place a session has in its tree."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from sessions_app.access.actions import record_audit
from sessions_app.access.rules import Principal
from sessions_app.events.actions import emit_event
from sessions_app.hierarchy.actions.rows import Check, check_not_sealed, check_writer, emit_of_session, insert
from sessions_app.hierarchy.actions.sessions import new_session, record_session_created
from sessions_app.hierarchy.errors import AlreadyLinked, AncestryCycle, ChildHasHistory, ImmutableField, ProjectMismatch
from sessions_app.hierarchy.models import Session, SubSession
from sessions_app.hierarchy.rules import (
    changed_fields,
    check_depth,
    check_sub_session_transition,
    check_tree_depth,
    check_width,
    child_path,
)
from sessions_app.ids import new_id
from sessions_app.wire.errors import NotFound


@transaction.atomic
def spawn_session(
    *,
    parent: Session,
    current_actor: dict[str, Any] | None,
    kind: str,
    spawned_by: dict[str, Any],
    by: Principal,
    now: datetime,
    label: str | None = None,
    public_id: str | None = None,
    failure_mode: str = "delegate",
    completion_mode: str = "summary_ref",
) -> SubSession:
    """The new edge at `pending` together with its child session; raises TreeTooDeep (domain.md §3).

    The project's limits are the caller's to check.
    """
    parent = _lock_with_roots({parent.pk})[parent.pk]
    check_tree_depth(parent.depth + 1)
    child = new_session(parent.project, current_actor, now, label=label)
    edge = SubSession(
        tenant_id=parent.tenant_id,
        public_id=public_id or new_id("sub"),
        parent=parent,
        child=child,
        kind=kind,
        spawned_by=spawned_by,
        spawned_at=now,
        failure_mode=failure_mode,
        completion_mode=completion_mode,
        updated_at=now,
    )
    child.root_id, child.depth = parent.root_id, parent.depth + 1
    child.path = child_path(parent.path, now, edge.public_id)
    insert(child, child.public_id)
    insert(edge, edge.public_id)
    record_session_created(child, by, now)
    _record_spawned(edge, by, now)
    return edge


@transaction.atomic
def link_session(*, edge: SubSession, by: Principal, now: datetime) -> SubSession:
    """The saved edge, with the child's whole tree moved to its place below the parent.

    `edge` is not saved yet and names `parent_id` and `child_id`. Raises AlreadyLinked, AncestryCycle, TreeTooDeep or
    IdTaken. The roots of both trees are locked in id order, so that of two opposite links one sees the other.
    """
    rows = _lock_with_roots({edge.parent_id, edge.child_id})
    parent, child = rows[edge.parent_id], rows[edge.child_id]
    if child.depth:
        raise AlreadyLinked(child.public_id)
    if parent.root_id == child.pk:
        raise AncestryCycle(child.public_id)
    check_tree_depth(parent.depth + 1 + _height(child))
    edge.parent, edge.child = parent, child
    insert(edge, edge.public_id)
    _move_tree(child, parent, child_path(parent.path, edge.spawned_at, edge.public_id))
    if edge.status == "archived":  # what lies behind a tombstone is read, not written to (domain.md §13)
        Session.objects.filter(pk=child.pk).update(sealed_at=edge.archived_at or now)
    _record_spawned(edge, by, now)
    return edge


@transaction.atomic
def delegate(
    *,
    parent: Session,
    child: Session | None,
    current_actor: dict[str, Any] | None,
    label: str | None,
    by: Principal,
    now: datetime,
    **edge: Any,
) -> SubSession:
    """The new edge to `child`, an unlinked root, or to a new session of `current_actor` (domain.md §3, §6).

    `edge` holds kind, spawned_by, public_id, failure_mode and completion_mode. Before anything is written, raises
    SessionArchived, NotCurrentOwner, DelegationCapacityExceeded, ChildHasHistory, AncestryCycle or ProjectMismatch.
    """
    rows = _lock_with_roots({parent.pk} if child is None else {parent.pk, child.pk})
    parent = rows[parent.pk]
    check_not_sealed(parent)
    check_writer(parent, by)
    _check_capacity(parent)
    if child is None:
        return spawn_session(parent=parent, current_actor=current_actor, label=label, by=by, now=now, **edge)
    _check_linkable(parent, rows[child.pk])
    made = SubSession(
        tenant_id=parent.tenant_id, parent_id=parent.pk, child_id=child.pk, spawned_at=now, updated_at=now, **edge
    )
    made.public_id = made.public_id or new_id("sub")
    return link_session(edge=made, by=by, now=now)


def _check_capacity(parent: Session) -> None:
    config, session_id = parent.project.config, parent.public_id
    check_depth(parent.depth + 1, config["maxDelegationDepth"], session_id)
    limit = config["maxDelegationWidth"]
    counted = SubSession.objects.filter(parent_id=parent.pk).values("pk")[: limit + 1].count()
    check_width(counted + 1, limit, session_id)


def _check_linkable(parent: Session, child: Session) -> None:
    if child.pk == parent.pk:
        raise AncestryCycle(child.public_id)
    if child.depth or SubSession.objects.filter(parent_id=child.pk).exists():
        raise ChildHasHistory(childSessionId=child.public_id)
    if child.project_id != parent.project_id:
        raise ProjectMismatch(parentSessionId=parent.public_id, childSessionId=child.public_id)
    check_not_sealed(child)


@transaction.atomic
def replace_sub_session(
    *,
    edge: SubSession,
    wanted: dict[str, Any],
    record: Callable[[SubSession], dict[str, Any]],
    check: Check,
    by: Principal,
    now: datetime,
) -> SubSession:
    """The edge after a PUT of its whole record, in which the status may differ by §5.

    Raises ImmutableField, IllegalTransition, SessionArchived or NotCurrentOwner.
    """
    edge = _lock_edge(edge)
    check(edge)
    check_not_sealed(edge.child)
    check_writer(edge.parent, by)
    before = record(edge)
    changed = changed_fields(before, wanted, ignored={"updatedAt", "status"})
    if changed:
        raise ImmutableField(changed)
    if edge.status == wanted["status"]:
        return edge
    check_sub_session_transition(edge.status, wanted["status"], by_hand=True)
    edge.status, edge.updated_at = wanted["status"], now
    edge.save(update_fields=["status", "updated_at"])
    change = {"from": before["status"], "to": edge.status}
    record_audit(
        tenant_id=edge.tenant_id,
        by=by,
        action="sub_session.changed",
        target=edge.public_id,
        now=now,
        before={"status": change["from"]},
        after={"status": change["to"]},
    )
    emit_of_session(edge.child, "sub_session.status_changed", now, {"subSessionId": edge.public_id, **change}, edge)
    return edge


@transaction.atomic
def delete_sub_session(*, edge: SubSession, check: Check, by: Principal, now: datetime) -> None:
    """The edge is gone and its child, with all below it, is a tree of its own; raises SessionArchived."""
    edge = _lock_edge(edge)
    check(edge)
    check_not_sealed(edge.child)
    child, ends = edge.child, {"parentSessionId": edge.parent.public_id, "childSessionId": edge.child.public_id}
    record_audit(
        tenant_id=edge.tenant_id, by=by, action="sub_session.deleted", target=edge.public_id, now=now, before=ends
    )
    emit_of_session(edge.parent, "sub_session.deleted", now, ends, edge)
    edge.delete()
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE sessions_app_session SET root_id = %s, depth = depth - %s, path = substr(path, %s)
            WHERE tenant_id = %s AND root_id = %s AND path >= %s AND path < %s
            """,
            [child.pk, child.depth, len(child.path) + 1, child.tenant_id, child.root_id, child.path, f"{child.path}~"],
        )


def _lock_with_roots(keys: set[int]) -> dict[int, Session]:
    """The sessions and the roots of their trees, locked in id order, as they are once all locks are held.

    Raises NotFound where one was deleted meanwhile.

    Whoever makes, moves or cuts an edge holds the root of every tree it changes: a session that is being added to a
    tree would otherwise be missed by the statement that moves it.
    """
    while True:
        roots = set(Session.objects.filter(pk__in=keys).values_list("root_id", flat=True))
        locked = Session.objects.select_for_update(no_key=True, of=("self",)).select_related("project")
        rows = {row.pk: row for row in locked.filter(pk__in=keys | roots).order_by("pk")}
        if keys - rows.keys():
            raise NotFound("session", "that was named")
        if {rows[key].root_id for key in keys} <= rows.keys():
            return rows


def _lock_edge(edge: SubSession) -> SubSession:
    """The edge as it is, both its ends and their root locked; raises NotFound where it went meanwhile."""
    rows = _lock_with_roots({edge.parent_id, edge.child_id})
    found = SubSession.objects.select_for_update(no_key=True).filter(pk=edge.pk).first()
    if found is None:
        raise NotFound("sub-session", edge.public_id)
    found.parent, found.child = rows[found.parent_id], rows[found.child_id]
    return found


def _height(root: Session) -> int:
    deepest = Session.objects.filter(root_id=root.pk).order_by("-depth").values_list("depth", flat=True).first()
    return deepest or 0


def _move_tree(child: Session, parent: Session, place: str) -> None:
    """Moves the tree whose root is `child` to `place` in the parent's tree."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE sessions_app_session SET root_id = %s, depth = depth + %s, path = %s || path
            WHERE tenant_id = %s AND root_id = %s
            """,
            [parent.root_id, parent.depth + 1, place, child.tenant_id, child.pk],
        )
    child.root_id, child.depth, child.path = parent.root_id, parent.depth + 1, place


def _record_spawned(edge: SubSession, by: Principal, now: datetime) -> None:
    ends = {"parentSessionId": edge.parent.public_id, "childSessionId": edge.child.public_id, "kind": edge.kind}
    tenant_id, public_id = edge.tenant_id, edge.public_id
    record_audit(tenant_id=tenant_id, by=by, action="sub_session.created", target=public_id, now=now, after=ends)
    emit_event(
        tenant_id=tenant_id,
        project_id=edge.child.project_id,
        root_id=edge.child.root_id,
        kind="subsession_spawned",
        now=now,
        session_id=edge.child_id,
        sub_session_id=public_id,
        payload=ends,
    )
