"""Routes of the hierarchy that need more than one layer; they stand on its router, for the sake of their paths."""

import msgspec
from django.http import HttpResponse
from ninja import Path

from namzu_site.manager import actions
from sessions_app.hierarchy.api import router as router
from sessions_app.hierarchy.errors import SessionHasSubSessions
from sessions_app.hierarchy.models import Session
from sessions_app.hierarchy.rules import is_id
from sessions_app.hierarchy.schemas import SessionPath, session_record
from sessions_app.wire.answers import check_if_match
from sessions_app.wire.authentication import OPERATOR, ApiRequest
from sessions_app.wire.schemas import errors
from sessions_app.wire.times import now_ms


@router.delete(
    "/sessions/{session_id}",
    auth=OPERATOR,
    response={204: None},
    tags=["Sessions"],
    summary="Delete a session",
    openapi_extra=errors(SessionHasSubSessions),
)
def delete_session(request: ApiRequest, at: Path[SessionPath]) -> HttpResponse:
    """204, also when it is not there. Its messages go with it."""
    found = Session.objects.for_tenant(request.tenant.pk)
    session = found.filter(public_id=at.session_id).first() if is_id("ses", at.session_id) else None
    if session is not None:
        actions.delete_session(
            session=session,
            check=lambda row: check_if_match(
                request, msgspec.json.encode(session_record(row, request.tenant.public_id))
            ),
            by=request.principal,
            now=now_ms(),
        )
    return HttpResponse(status=204)
