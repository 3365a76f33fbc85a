"""The one table that knows HTTP status codes: anticipated failures to problem+json (RFC 9457)."""

import json
import logging
from http import HTTPStatus
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from psycopg.errors import DeadlockDetected, LockNotAvailable

from sessions_app.access import errors as access
from sessions_app.hierarchy import errors as hierarchy
from sessions_app.wire import errors as wire
from stores_app.session import errors as messages

STATUS: dict[type[wire.DomainError], HTTPStatus] = {
    wire.NotFound: HTTPStatus.NOT_FOUND,
    wire.InvalidRequest: HTTPStatus.UNPROCESSABLE_ENTITY,
    wire.MalformedBody: HTTPStatus.BAD_REQUEST,
    wire.UnsupportedMedia: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    wire.BodyTooSlow: HTTPStatus.REQUEST_TIMEOUT,
    wire.BodyTooLarge: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    wire.IdempotencyMismatch: HTTPStatus.CONFLICT,
    wire.IdempotencyInProgress: HTTPStatus.CONFLICT,
    wire.PreconditionFailed: HTTPStatus.PRECONDITION_FAILED,
    wire.DatabaseUnavailable: HTTPStatus.SERVICE_UNAVAILABLE,
    wire.Busy: HTTPStatus.SERVICE_UNAVAILABLE,
    access.NotAuthenticated: HTTPStatus.UNAUTHORIZED,
    access.InsufficientScope: HTTPStatus.FORBIDDEN,
    access.TenantIsolation: HTTPStatus.FORBIDDEN,
    hierarchy.IdTaken: HTTPStatus.CONFLICT,
    hierarchy.IllegalTransition: HTTPStatus.CONFLICT,
    hierarchy.AncestryCycle: HTTPStatus.CONFLICT,
    hierarchy.AlreadyLinked: HTTPStatus.CONFLICT,
    hierarchy.TreeTooDeep: HTTPStatus.CONFLICT,
    hierarchy.SessionArchived: HTTPStatus.CONFLICT,
    hierarchy.NotCurrentOwner: HTTPStatus.FORBIDDEN,
    hierarchy.ImmutableField: HTTPStatus.CONFLICT,
    hierarchy.SessionHasSubSessions: HTTPStatus.CONFLICT,
    hierarchy.ChildHasHistory: HTTPStatus.CONFLICT,
    hierarchy.ProjectMismatch: HTTPStatus.CONFLICT,
    hierarchy.DelegationCapacityExceeded: HTTPStatus.CONFLICT,
    messages.InvalidMessage: HTTPStatus.UNPROCESSABLE_ENTITY,
}

log = logging.getLogger(__name__)


def problem(status: int, code: str, detail: str, details: dict[str, Any] | None = None) -> HttpResponse:
    """A problem+json answer."""
    body = {
        "type": f"urn:namzu:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": int(status),
        "detail": detail,
        "code": code,
        "details": details or {},
    }
    response = HttpResponse(json.dumps(body), status=status, content_type="application/problem+json")
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="namzu"'
    return response


def problem_of(error: wire.DomainError) -> HttpResponse:
    """The answer to an anticipated failure."""
    return problem(STATUS[type(error)], error.code, error.message, error.details)


def _place(found: dict[str, Any]) -> dict[str, str]:
    """Where and what, as the caller sees it: for bodies ninja puts the name of our own argument second."""
    place = [str(step) for step in found["loc"]]
    if place[0] == "body":
        del place[1]
    return {"in": ".".join(place), "message": str(found["msg"]).removeprefix("Value error, ")}


def register_handlers(api: NinjaAPI) -> None:
    """Makes every failure of the API a problem+json answer."""

    @api.exception_handler(wire.DomainError)
    def domain_error(request: HttpRequest, error: wire.DomainError) -> HttpResponse:
        return problem_of(error)

    @api.exception_handler(ValidationError)
    def validation_error(request: HttpRequest, error: ValidationError) -> HttpResponse:
        return problem_of(wire.InvalidRequest([_place(found) for found in error.errors]))

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        if isinstance(error.__cause__, wire.DomainError):  # ninja wraps what its body parser raises
            return problem_of(error.__cause__)
        return problem(error.status_code, "malformed_body", error.message)

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return problem(HTTPStatus.NOT_FOUND, "not_found", "There is nothing at this address.")

    @api.exception_handler(InterfaceError)
    @api.exception_handler(OperationalError)
    def database_trouble(request: HttpRequest, error: OperationalError | InterfaceError) -> HttpResponse:
        if isinstance(error.__cause__, LockNotAvailable | DeadlockDetected):
            response = problem_of(wire.Busy())
        else:
            log.error("%s %s: %s", request.method, request.path, error)
            response = problem_of(wire.DatabaseUnavailable())
        response["Retry-After"] = "1"
        return response

    @api.exception_handler(Exception)
    def unexpected(request: HttpRequest, error: Exception) -> HttpResponse:
        log.error("%s %s failed", request.method, request.path, exc_info=error)
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR, "internal_error", "Something unexpected went wrong; it is logged."
        )
