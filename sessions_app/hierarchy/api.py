"""Reading the hierarchy, and the first writes: projects and root sessions (api.md, Hierarchy)."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Path, Query, Router

from sessions_app.access.errors import TenantIsolation
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.models import Project, Session, SessionQuerySet, SubSession
from sessions_app.hierarchy.rules import BadActor, actor_kind_of, check_actor
from sessions_app.hierarchy.schemas import (
    DrillOut,
    ProjectIn,
    ProjectOut,
    ProjectPath,
    SessionFilter,
    SessionIn,
    SessionOut,
    SessionPath,
    SubSessionOut,
    SubSessionPath,
    TreeItemOut,
    TreeQuery,
    project_record,
    session_record,
    sub_session_record,
    tree_record,
)
from sessions_app.ids import BadId, check_id
from sessions_app.wire.authentication import ADMIN, READ, RUNNER, ApiRequest
from sessions_app.wire.cursors import MAX_LIMIT, decode_cursor, encode_cursor
from sessions_app.wire.errors import InvalidRequest, NotFound
from sessions_app.wire.schemas import READ_ERRORS, WRITE_ERRORS, Page, Paging, TenantPath, answer, existing_id, page
from sessions_app.wire.times import now_ms

router = Router(tags=["Hierarchy"])


@router.post("/projects", auth=ADMIN, response={201: ProjectOut, **WRITE_ERRORS}, summary="Create a project")
def create_project(request: ApiRequest, at: Path[TenantPath], body: ProjectIn) -> HttpResponse:
    """201 with the project; 409 `id_taken`."""
    _check_tenant(request, body.tenant_id)
    project = actions.create_project(
        tenant=request.tenant,
        name=body.name,
        config=body.config.model_dump(by_alias=True, exclude_none=True),
        public_id=body.id,
        by=request.principal,
        now=now_ms(),
    )
    return answer(project_record(project, request.tenant.public_id), status=201)


@router.get("/projects", auth=READ, response={200: Page[ProjectOut], **READ_ERRORS}, summary="List projects")
def list_projects(request: ApiRequest, at: Path[TenantPath], paging: Query[Paging]) -> HttpResponse:
    """The tenant's projects, newest first."""
    found = Project.objects.for_tenant(request.tenant.pk).newest_first()
    return _newest_page(request, found, paging, project_record)


@router.get("/projects/{project_id}", auth=READ, response={200: ProjectOut, **READ_ERRORS}, summary="Read a project")
def get_project(request: ApiRequest, at: Path[ProjectPath]) -> HttpResponse:
    """The project."""
    return answer(project_record(_project(request, at.project_id), request.tenant.public_id))


@router.post("/sessions", auth=RUNNER, response={201: SessionOut, **WRITE_ERRORS}, summary="Create a root session")
def create_session(request: ApiRequest, at: Path[TenantPath], body: SessionIn) -> HttpResponse:
    """201 with the session at `idle`; 409 `id_taken`."""
    _check_tenant(request, body.tenant_id)
    project = Project.objects.for_tenant(request.tenant.pk).filter(public_id=body.project_id).first()
    if project is None:
        raise NotFound("project", body.project_id)
    session = actions.create_session(
        project=project,
        current_actor=_actor(request, body.current_actor, "body.currentActor"),
        label=body.label,
        public_id=body.id,
        by=request.principal,
        now=now_ms(),
    )
    return answer(session_record(session, request.tenant.public_id), status=201)


@router.get("/sessions", auth=READ, response={200: Page[SessionOut], **READ_ERRORS}, summary="List sessions")
def list_sessions(request: ApiRequest, at: Path[TenantPath], filters: Query[SessionFilter]) -> HttpResponse:
    """Sessions, newest first. An unknown project or root is an empty list."""
    found = Session.objects.for_tenant(request.tenant.pk).select_related("project").newest_first()
    return _newest_page(request, _filtered(found, request, filters), filters, session_record)


@router.get("/sessions/{session_id}", auth=READ, response={200: SessionOut, **READ_ERRORS}, summary="Read a session")
def get_session(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The session."""
    return answer(session_record(_session(request, at.session_id), request.tenant.public_id))


@router.get(
    "/sub-sessions/{sub_session_id}",
    auth=READ,
    response={200: SubSessionOut, **READ_ERRORS},
    summary="Read a sub-session",
)
def get_sub_session(request: ApiRequest, at: Path[SubSessionPath]) -> HttpResponse:
    """The edge."""
    public_id = existing_id("sub", "sub-session", at.sub_session_id)
    edge = SubSession.objects.for_tenant(request.tenant.pk).with_ends().filter(public_id=public_id).first()
    if edge is None:
        raise NotFound("sub-session", public_id)
    return answer(sub_session_record(edge, request.tenant.public_id))


@router.get(
    "/sessions/{session_id}/children",
    auth=READ,
    response={200: Page[SubSessionOut], **READ_ERRORS},
    summary="List the sub-sessions of a session",
)
def list_children(request: ApiRequest, at: Path[SessionPath], paging: Query[Paging]) -> HttpResponse:
    """The edges below the session, by spawnedAt, then id."""
    return answer(_children(request, _session(request, at.session_id), paging.limit, paging.cursor))


@router.get(
    "/sessions/{session_id}/ancestry",
    auth=READ,
    response={200: Page[SessionOut], **READ_ERRORS},
    summary="List the ancestors of a session",
)
def list_ancestry(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The chain from the root to the session itself; always one page."""
    chain = Session.objects.with_lineage_of(_session(request, at.session_id)).select_related("project")
    return answer({"items": [session_record(s, request.tenant.public_id) for s in chain], "nextCursor": None})


@router.get("/sessions/{session_id}/drill", auth=READ, response={200: DrillOut, **READ_ERRORS}, summary="Drill")
def drill(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The session, the edges below it (at most 500, then `childrenCursor` for …/children) and its ancestry."""
    session = _session(request, at.session_id)
    children = _children(request, session, MAX_LIMIT, None)
    ancestry = Session.objects.with_lineage_of(session).values_list("public_id", flat=True)
    record = {
        "session": session_record(session, request.tenant.public_id),
        "children": children["items"],
        "ancestry": list(ancestry),
    }
    if children["nextCursor"]:
        record["childrenCursor"] = children["nextCursor"]
    return answer(record)


@router.get(
    "/sessions/{session_id}/tree",
    auth=READ,
    response={200: Page[TreeItemOut], **READ_ERRORS},
    summary="List the tree below a session",
)
def list_tree(request: ApiRequest, at: Path[SessionPath], query: Query[TreeQuery]) -> HttpResponse:
    """The session and everything below it, flat, each before its children, these by spawnedAt, then id."""
    session = _session(request, at.session_id)
    found = Session.objects.below(session, levels=query.depth).in_walk_order()
    if query.cursor:
        (path,) = decode_cursor(query.cursor, str)
        found = found.filter(path__gt=path)
    rows = list(found.select_related("project", "root", "parent_edge__parent", "parent_edge__child")[: query.limit + 1])
    tenant_id = request.tenant.public_id
    return answer(page(rows, query.limit, lambda row: tree_record(row, tenant_id), lambda row: encode_cursor(row.path)))


def _children(request: ApiRequest, session: Session, limit: int, cursor: str | None) -> dict[str, Any]:
    found = SubSession.objects.children_of(session.pk)
    if cursor:
        found = found.after(*decode_cursor(cursor, datetime, str))
    tenant_id = request.tenant.public_id
    return page(
        list(found[: limit + 1]),
        limit,
        lambda edge: sub_session_record(edge, tenant_id),
        lambda edge: encode_cursor(edge.spawned_at, edge.public_id),
    )


def _newest_page(request: ApiRequest, found: Any, paging: Paging, record: Callable[[Any, str], Any]) -> HttpResponse:
    if paging.cursor:
        found = found.behind(*decode_cursor(paging.cursor, datetime, int))
    tenant_id = request.tenant.public_id
    return answer(
        page(
            list(found[: paging.limit + 1]),
            paging.limit,
            lambda row: record(row, tenant_id),
            lambda row: encode_cursor(row.created_at, row.pk),
        )
    )


def _filtered(found: SessionQuerySet, request: ApiRequest, filters: SessionFilter) -> SessionQuerySet:
    if filters.project is not None:
        found = found.filter(project__public_id=_filter_id("prj", filters.project, "query.project"))
    if filters.status is not None:
        found = found.filter(status=filters.status)
    if filters.actor is not None:
        kind = actor_kind_of(filters.actor)
        if kind is None:
            raise InvalidRequest.at("query.actor", "expected an id that begins with usr_, agt_ or sys_")
        found = found.owned_by(kind, filters.actor)
    if filters.root is not None:
        root = _filter_id("ses", filters.root, "query.root")
        found = found.filter(root__public_id=root, root__tenant_id=request.tenant.pk)
    if filters.q and filters.q.strip():
        found = found.matching(filters.q)
    return found


def _filter_id(prefix: str, value: str, place: str) -> str:
    try:
        return check_id(prefix, value)
    except BadId as error:
        raise InvalidRequest.at(place, str(error)) from None


def _check_tenant(request: ApiRequest, named: str | None) -> None:
    if named is not None and named != request.tenant.public_id:
        raise TenantIsolation(tenantId=named)


def _actor(request: ApiRequest, actor: dict[str, Any] | None, place: str) -> dict[str, Any] | None:
    if actor is None:
        return None
    try:
        return check_actor(actor, request.tenant.public_id)
    except BadActor as error:
        raise InvalidRequest.at(place, str(error)) from None


def _project(request: ApiRequest, project_id: str) -> Project:
    public_id = existing_id("prj", "project", project_id)
    project = Project.objects.for_tenant(request.tenant.pk).filter(public_id=public_id).first()
    if project is None:
        raise NotFound("project", public_id)
    return project


def _session(request: ApiRequest, session_id: str) -> Session:
    public_id = existing_id("ses", "session", session_id)
    found = Session.objects.for_tenant(request.tenant.pk).select_related("project")
    session = found.filter(public_id=public_id).first()
    if session is None:
        raise NotFound("session", public_id)
    return session
