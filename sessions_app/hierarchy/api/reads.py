"""Reading the hierarchy (api.md, Hierarchy)."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Path, Query

from sessions_app.hierarchy.api.loading import newest_page, project_of, router, session_of, sub_session_of
from sessions_app.hierarchy.models import Project, Session, SessionQuerySet, SubSession
from sessions_app.hierarchy.rules import actor_kind_of
from sessions_app.hierarchy.schemas import (
    DrillOut,
    ProjectOut,
    ProjectPath,
    SessionFilter,
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
from sessions_app.wire.authentication import READ, ApiRequest
from sessions_app.wire.cursors import MAX_LIMIT, decode_cursor, encode_cursor
from sessions_app.wire.errors import InvalidRequest
from sessions_app.wire.schemas import Page, Paging, TenantPath, answer, page


@router.get("/projects", auth=READ, response={200: Page[ProjectOut]}, tags=["Projects"], summary="List projects")
def list_projects(request: ApiRequest, at: Path[TenantPath], paging: Query[Paging]) -> HttpResponse:
    """The tenant's projects, newest first."""
    found = Project.objects.for_tenant(request.tenant.pk).newest_first()
    return newest_page(request, found, paging, project_record)


@router.get(
    "/projects/{project_id}", auth=READ, response={200: ProjectOut}, tags=["Projects"], summary="Read a project"
)
def read_project(request: ApiRequest, at: Path[ProjectPath]) -> HttpResponse:
    """The project."""
    return answer(project_record(project_of(request, at.project_id), request.tenant.public_id))


@router.get("/sessions", auth=READ, response={200: Page[SessionOut]}, tags=["Sessions"], summary="List sessions")
def list_sessions(request: ApiRequest, at: Path[TenantPath], filters: Query[SessionFilter]) -> HttpResponse:
    """Sessions, newest first. An unknown project or root is an empty list."""
    found = Session.objects.for_tenant(request.tenant.pk).select_related("project").newest_first()
    return newest_page(request, _filtered(found, request, filters), filters, session_record)


@router.get(
    "/sessions/{session_id}", auth=READ, response={200: SessionOut}, tags=["Sessions"], summary="Read a session"
)
def read_session(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The session."""
    return answer(session_record(session_of(request, at.session_id), request.tenant.public_id))


@router.get(
    "/sub-sessions/{sub_session_id}",
    auth=READ,
    response={200: SubSessionOut},
    tags=["Sub-sessions"],
    summary="Read a sub-session",
)
def read_sub_session(request: ApiRequest, at: Path[SubSessionPath]) -> HttpResponse:
    """The edge."""
    edge = sub_session_of(request, at.sub_session_id)
    return answer(sub_session_record(edge, request.tenant.public_id))


@router.get(
    "/sessions/{session_id}/children",
    auth=READ,
    response={200: Page[SubSessionOut]},
    tags=["Sessions"],
    summary="List the sub-sessions of a session",
)
def list_children(request: ApiRequest, at: Path[SessionPath], paging: Query[Paging]) -> HttpResponse:
    """The edges below the session, by spawnedAt, then id."""
    return answer(_children(request, session_of(request, at.session_id), paging.limit, paging.cursor))


@router.get(
    "/sessions/{session_id}/ancestry",
    auth=READ,
    response={200: Page[SessionOut]},
    tags=["Sessions"],
    summary="List the ancestors of a session",
)
def list_ancestry(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The chain from the root to the session itself; always one page."""
    chain = Session.objects.with_lineage_of(session_of(request, at.session_id)).select_related("project")
    return answer({"items": [session_record(s, request.tenant.public_id) for s in chain], "nextCursor": None})


@router.get(
    "/sessions/{session_id}/drill",
    auth=READ,
    response={200: DrillOut},
    tags=["Sessions"],
    summary="Drill into a session",
)
def drill(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """The session, the edges below it (at most 500, then `childrenCursor` for …/children) and its ancestry."""
    session = session_of(request, at.session_id)
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
    response={200: Page[TreeItemOut]},
    tags=["Sessions"],
    summary="List the tree below a session",
)
def list_tree(request: ApiRequest, at: Path[SessionPath], query: Query[TreeQuery]) -> HttpResponse:
    """The session and everything below it, flat, each before its children, these by spawnedAt, then id."""
    session = session_of(request, at.session_id)
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


def _filtered(found: SessionQuerySet, request: ApiRequest, filters: SessionFilter) -> SessionQuerySet:
    if filters.project is not None:
        found = found.filter(project__public_id=filters.project)
    if filters.status is not None:
        found = found.filter(status=filters.status)
    if filters.actor is not None:
        kind = actor_kind_of(filters.actor)
        if kind is None:
            raise InvalidRequest.at("query.actor", "expected an id that begins with usr_, agt_ or sys_")
        found = found.owned_by(kind, filters.actor)
    if filters.root is not None:
        found = found.filter(root__public_id=filters.root, root__tenant_id=request.tenant.pk)
    if filters.q and filters.q.strip():
        found = found.matching(filters.q)
    return found
