"""Creating, changing and removing projects, sessions and edges (api.md, Hierarchy)."""

from collections.abc import Callable
from typing import Any

import msgspec
from django.http import HttpResponse
from ninja import Path

from sessions_app.access.errors import TenantIsolation
from sessions_app.hierarchy import actions
from sessions_app.hierarchy.api.loading import actor_of, check_tenant, project_of, router, session_of, sub_session_of
from sessions_app.hierarchy.commands import ProjectIn, ProjectPatch, SessionIn, SessionPut, SubSessionIn, SubSessionPut
from sessions_app.hierarchy.errors import (
    AncestryCycle,
    ChildHasHistory,
    DelegationCapacityExceeded,
    IdTaken,
    IllegalTransition,
    ImmutableField,
    NotCurrentOwner,
    ProjectMismatch,
    SessionArchived,
    TreeTooDeep,
)
from sessions_app.hierarchy.models import Project, Session, SubSession
from sessions_app.hierarchy.schemas import (
    ProjectOut,
    ProjectPath,
    SessionOut,
    SessionPath,
    SubSessionOut,
    SubSessionPath,
    project_record,
    session_record,
    sub_session_record,
)
from sessions_app.wire.answers import check_if_match
from sessions_app.wire.authentication import ADMIN, OPERATOR, RUNNER, ApiRequest
from sessions_app.wire.errors import InvalidRequest, NotFound
from sessions_app.wire.idempotency import idempotent
from sessions_app.wire.schemas import TenantPath, answer, errors
from sessions_app.wire.times import now_ms


def _unless_changed(request: ApiRequest, record: Callable[[Any, str], dict[str, Any]]) -> Callable[[Any], None]:
    """What compares If-Match with the locked row."""
    return lambda row: check_if_match(request, msgspec.json.encode(record(row, request.tenant.public_id)))


@router.post(
    "/projects",
    auth=ADMIN,
    response={201: ProjectOut},
    tags=["Projects"],
    summary="Create a project",
    openapi_extra=errors(TenantIsolation, IdTaken),
)
@idempotent
def create_project(request: ApiRequest, at: Path[TenantPath], body: ProjectIn) -> HttpResponse:
    """201 with the project, its config filled up with the defaults."""
    check_tenant(request, body.tenant_id)
    project = actions.create_project(
        tenant=request.tenant,
        name=body.name,
        config=body.config.model_dump(by_alias=True, exclude_none=True),
        public_id=body.id,
        by=request.principal,
        now=now_ms(),
    )
    return answer(project_record(project, request.tenant.public_id), status=201)


@router.patch(
    "/projects/{project_id}", auth=ADMIN, response={200: ProjectOut}, tags=["Projects"], summary="Change a project"
)
def change_project(request: ApiRequest, at: Path[ProjectPath], body: ProjectPatch) -> HttpResponse:
    """The changed project. Fields of `config` that are absent stay; null puts one back to its default."""
    project = actions.change_project(
        project=project_of(request, at.project_id),
        name=body.name,
        config=body.config.model_dump(by_alias=True, exclude_unset=True) if body.config else {},
        check=_unless_changed(request, project_record),
        by=request.principal,
        now=now_ms(),
    )
    return answer(project_record(project, request.tenant.public_id))


@router.post(
    "/sessions",
    auth=RUNNER,
    response={201: SessionOut},
    tags=["Sessions"],
    summary="Create a root session",
    openapi_extra=errors(TenantIsolation, IdTaken),
)
@idempotent
def create_session(request: ApiRequest, at: Path[TenantPath], body: SessionIn) -> HttpResponse:
    """201 with the session, at `idle` and with no parent."""
    check_tenant(request, body.tenant_id)
    project = Project.objects.for_tenant(request.tenant.pk).filter(public_id=body.project_id).first()
    if project is None:
        raise NotFound("project", body.project_id)
    session = actions.create_session(
        project=project,
        current_actor=actor_of(request, body.current_actor, "body.currentActor"),
        label=body.label,
        public_id=body.id,
        by=request.principal,
        now=now_ms(),
    )
    return answer(session_record(session, request.tenant.public_id), status=201)


@router.put(
    "/sessions/{session_id}",
    auth=RUNNER,
    response={200: SessionOut},
    tags=["Sessions"],
    summary="Replace a session",
    openapi_extra=errors(TenantIsolation, NotCurrentOwner, SessionArchived, ImmutableField, IllegalTransition),
)
def replace_session(request: ApiRequest, at: Path[SessionPath], body: SessionPut) -> HttpResponse:
    """The session after a PUT of its whole record; `updatedAt` in it is not looked at.

    `label`, `workspaceId` and `status` may differ, status only as a caller may set it: idle ↔ active, failed → idle.
    With an admin key and `If-Match` the owner fields may differ too, which is audited as a repair.
    """
    wanted = body.model_dump(by_alias=True)
    check_tenant(request, body.tenant_id)
    for actor in (body.current_actor, *body.previous_actors):
        actor_of(request, actor, "body")
    session = actions.replace_session(
        session=session_of(request, at.session_id),
        wanted=wanted,
        record=lambda row: session_record(row, request.tenant.public_id),
        check=_unless_changed(request, session_record),
        repair="If-Match" in request.headers,
        by=request.principal,
        now=now_ms(),
    )
    return answer(session_record(session, request.tenant.public_id))


@router.post(
    "/sub-sessions",
    auth=RUNNER,
    response={201: SubSessionOut},
    tags=["Sub-sessions"],
    summary="Create a sub-session",
    openapi_extra=errors(
        TenantIsolation,
        NotCurrentOwner,
        SessionArchived,
        IdTaken,
        DelegationCapacityExceeded,
        TreeTooDeep,
        ChildHasHistory,
        AncestryCycle,
        ProjectMismatch,
    ),
)
@idempotent
def create_sub_session(request: ApiRequest, at: Path[TenantPath], body: SubSessionIn) -> HttpResponse:
    """201 with the edge at `pending`: to a new session (`child`), or to a root that has no edges (`childSessionId`).

    The limits of the project hold: `maxDelegationDepth`, `maxDelegationWidth`.
    """
    check_tenant(request, body.tenant_id)
    if (body.child is None) == (body.child_session_id is None):
        raise InvalidRequest.at("body", "expected either childSessionId or child")
    child = _named_session(request, body.child_session_id) if body.child_session_id else None
    owner = body.child.current_actor if body.child else None
    edge = actions.delegate(
        parent=_named_session(request, body.parent_session_id),
        child=child,
        current_actor=actor_of(request, owner, "body.child.currentActor"),
        label=body.child.label if body.child else None,
        kind=body.kind,
        spawned_by=actor_of(request, body.spawned_by, "body.spawnedBy"),
        failure_mode=body.failure_mode,
        completion_mode=body.completion_mode,
        public_id=body.id,
        by=request.principal,
        now=now_ms(),
    )
    return answer(sub_session_record(edge, request.tenant.public_id), status=201)


@router.put(
    "/sub-sessions/{sub_session_id}",
    auth=RUNNER,
    response={200: SubSessionOut},
    tags=["Sub-sessions"],
    summary="Replace a sub-session",
    openapi_extra=errors(TenantIsolation, NotCurrentOwner, SessionArchived, ImmutableField, IllegalTransition),
)
def replace_sub_session(request: ApiRequest, at: Path[SubSessionPath], body: SubSessionPut) -> HttpResponse:
    """The edge after a PUT of its whole record, in which only `status` may differ; `updatedAt` is not looked at."""
    check_tenant(request, body.tenant_id)
    edge = actions.replace_sub_session(
        edge=sub_session_of(request, at.sub_session_id),
        wanted=body.model_dump(by_alias=True),
        record=lambda row: sub_session_record(row, request.tenant.public_id),
        check=_unless_changed(request, sub_session_record),
        by=request.principal,
        now=now_ms(),
    )
    return answer(sub_session_record(edge, request.tenant.public_id))


@router.delete(
    "/sub-sessions/{sub_session_id}",
    auth=OPERATOR,
    response={204: None},
    tags=["Sub-sessions"],
    summary="Delete a sub-session",
    openapi_extra=errors(SessionArchived),
)
def delete_sub_session(request: ApiRequest, at: Path[SubSessionPath]) -> HttpResponse:
    """204, also when it is not there. The child becomes the root of a tree of its own."""
    try:
        edge: SubSession = sub_session_of(request, at.sub_session_id)
        check = _unless_changed(request, sub_session_record)
        actions.delete_sub_session(edge=edge, check=check, by=request.principal, now=now_ms())
    except NotFound:
        pass
    return HttpResponse(status=204)


def _named_session(request: ApiRequest, session_id: str) -> Session:
    session = Session.objects.for_tenant(request.tenant.pk).filter(public_id=session_id).first()
    if session is None:
        raise NotFound("session", session_id)
    return session
