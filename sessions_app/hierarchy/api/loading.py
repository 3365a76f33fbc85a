"""What the routes of the hierarchy have in common: finding what a path names, and checking what a body says."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from ninja import Router

from sessions_app.access.errors import TenantIsolation
from sessions_app.hierarchy.models import Project, Session, SubSession
from sessions_app.hierarchy.rules import BadActor, check_actor
from sessions_app.wire.authentication import ApiRequest
from sessions_app.wire.cursors import decode_cursor, encode_cursor
from sessions_app.wire.errors import InvalidRequest, NotFound
from sessions_app.wire.schemas import Paging, answer, existing_id, page

# One for all verbs: of two routers with the same path the first answers, with 405 for the other's verbs.
router = Router()


def newest_page(request: ApiRequest, found: Any, paging: Paging, record: Callable[[Any, str], Any]) -> HttpResponse:
    """A page of rows that are listed newest first."""
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


def project_of(request: ApiRequest, project_id: str) -> Project:
    """The project that the path names; raises NotFound."""
    public_id = existing_id("prj", "project", project_id)
    project = Project.objects.for_tenant(request.tenant.pk).filter(public_id=public_id).first()
    if project is None:
        raise NotFound("project", public_id)
    return project


def session_of(request: ApiRequest, session_id: str) -> Session:
    """The session that the path names, its project joined; raises NotFound."""
    public_id = existing_id("ses", "session", session_id)
    found = Session.objects.for_tenant(request.tenant.pk).select_related("project")
    session = found.filter(public_id=public_id).first()
    if session is None:
        raise NotFound("session", public_id)
    return session


def check_tenant(request: ApiRequest, named: str | None) -> None:
    """Raises TenantIsolation where a body names another tenant than the path."""
    if named is not None and named != request.tenant.public_id:
        raise TenantIsolation(tenantId=named)


def actor_of(request: ApiRequest, actor: dict[str, Any] | None, place: str) -> dict[str, Any] | None:
    """The actor as it is; raises InvalidRequest with the place."""
    if actor is None:
        return None
    try:
        return check_actor(actor, request.tenant.public_id)
    except BadActor as error:
        raise InvalidRequest.at(place, str(error)) from None


def sub_session_of(request: ApiRequest, sub_session_id: str) -> SubSession:
    """The edge that the path names; raises NotFound."""
    public_id = existing_id("sub", "sub-session", sub_session_id)
    edge = SubSession.objects.for_tenant(request.tenant.pk).with_ends().filter(public_id=public_id).first()
    if edge is None:
        raise NotFound("sub-session", public_id)
    return edge
