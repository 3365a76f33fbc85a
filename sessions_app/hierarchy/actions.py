"""The writers of tenants, projects, sessions and edges."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction

from sessions_app.access.actions import record_audit
from sessions_app.access.rules import Principal
from sessions_app.events.actions import emit_event
from sessions_app.hierarchy.errors import AlreadyLinked, AncestryCycle, IdTaken
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import PROJECT_DEFAULTS, check_tree_depth, child_path
from sessions_app.ids import new_id


@transaction.atomic
def create_tenant(*, name: str, by: Principal, now: datetime, public_id: str | None = None) -> Tenant:
    """The new tenant; raises IdTaken."""
    public_id = public_id or new_id("tnt")
    tenant = Tenant(public_id=public_id, name=name, created_at=now)
    _insert(tenant, public_id)
    record_audit(tenant_id=tenant.pk, by=by, action="tenant.created", target=public_id, now=now, after={"name": name})
    return tenant


@transaction.atomic
def create_project(
    *,
    tenant: Tenant,
    name: str,
    by: Principal,
    now: datetime,
    config: dict[str, Any] | None = None,
    public_id: str | None = None,
) -> Project:
    """The new project, its config filled up with the defaults (domain.md §3); raises IdTaken."""
    public_id = public_id or new_id("prj")
    project = Project(
        tenant=tenant,
        public_id=public_id,
        name=name,
        config={**PROJECT_DEFAULTS, **(config or {})},
        created_at=now,
        updated_at=now,
    )
    _insert(project, public_id)
    after = {"name": name, "config": project.config}
    record_audit(tenant_id=tenant.pk, by=by, action="project.created", target=public_id, now=now, after=after)
    emit_event(
        tenant_id=tenant.pk,
        project_id=project.pk,
        root_id=None,
        kind="project.created",
        now=now,
        payload={"projectId": public_id},
    )
    return project


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
    session = _new_session(project, current_actor, now, label=label, public_id=public_id)
    session.root_id = session.pk
    _insert(session, session.public_id)
    _record_session_created(session, by, now)
    return session


@transaction.atomic
def import_project(*, project: Project, by: Principal, now: datetime) -> Project:
    """The project as it was recorded elsewhere, with its own times; raises IdTaken. `project` is not saved yet."""
    project.config = {**PROJECT_DEFAULTS, **project.config}
    _insert(project, project.public_id)
    tenant_id, public_id, after = project.tenant_id, project.public_id, {"name": project.name, "config": project.config}
    record_audit(tenant_id=tenant_id, by=by, action="project.imported", target=public_id, now=now, after=after)
    payload = {"projectId": public_id}
    emit_event(
        tenant_id=tenant_id, project_id=project.pk, root_id=None, kind="project.created", now=now, payload=payload
    )
    return project


@transaction.atomic(savepoint=False)  # its caller has a transaction of its own, with the messages in it
def import_session(*, session: Session, by: Principal, now: datetime) -> Session:
    """The session as it was recorded elsewhere, a root until its edge is linked; raises IdTaken.

    `session` is not saved yet, its key comes from `take_keys`: its messages may have been written before it.
    """
    session.root_id = session.pk
    _insert(session, session.public_id)
    _record_session_created(session, by, now, action="session.imported")
    return session


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
    failure_mode: str = "delegate",
    completion_mode: str = "summary_ref",
) -> SubSession:
    """The new edge at `pending` together with its child session; raises TreeTooDeep (domain.md §3)."""
    parent = Session.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=parent.pk)
    check_tree_depth(parent.depth + 1)
    child = _new_session(parent.project, current_actor, now, label=label)
    edge = SubSession(
        tenant_id=parent.tenant_id,
        public_id=new_id("sub"),
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
    _insert(child, child.public_id)
    _insert(edge, edge.public_id)
    _record_session_created(child, by, now)
    _record_spawned(edge, by, now)
    return edge


@transaction.atomic
def link_session(*, edge: SubSession, by: Principal, now: datetime) -> SubSession:
    """The saved edge, with the child's whole tree moved to its place below the parent.

    `edge` is not saved yet and names `parent_id` and `child_id`. Raises AlreadyLinked, AncestryCycle, TreeTooDeep or
    IdTaken. The roots of both trees are locked in id order, so that of two opposite links one sees the other.
    """
    parent, child = _lock_ends(edge)
    if child.depth:
        raise AlreadyLinked(child.public_id)
    if parent.root_id == child.pk:
        raise AncestryCycle(child.public_id)
    check_tree_depth(parent.depth + 1 + _height(child))
    edge.parent, edge.child = parent, child
    _insert(edge, edge.public_id)
    _move_tree(child, parent, child_path(parent.path, edge.spawned_at, edge.public_id))
    if edge.status == "archived":  # what lies behind a tombstone is read, not written to (domain.md §13)
        Session.objects.filter(pk=child.pk).update(sealed_at=edge.archived_at or now)
    _record_spawned(edge, by, now)
    return edge


def _lock_ends(edge: SubSession) -> tuple[Session, Session]:
    ends = {edge.parent_id, edge.child_id}
    while True:
        roots = set(Session.objects.filter(pk__in=ends).values_list("root_id", flat=True))
        locked = Session.objects.select_for_update(no_key=True).filter(pk__in=ends | roots).order_by("pk")
        rows = {row.pk: row for row in locked}
        if {rows[pk].root_id for pk in ends} <= rows.keys():
            return rows[edge.parent_id], rows[edge.child_id]


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


def _new_session(
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


def _insert(row: Tenant | Project | Session | SubSession, public_id: str) -> None:
    """Saves a new row; the database decides whether its id is free, so that two writers cannot both think so."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError as error:
        constraint = getattr(getattr(error.__cause__, "diag", None), "constraint_name", "") or ""
        if constraint.endswith("_id_taken") or "public_id" in constraint:
            raise IdTaken(public_id) from None
        if isinstance(row, SubSession) and "child" in constraint:
            raise AlreadyLinked(row.child.public_id) from None
        raise


def _record_session_created(session: Session, by: Principal, now: datetime, *, action: str = "session.created") -> None:
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
