"""What stands around every request."""

from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.urls import Resolver404, resolve

from namzu_site.http_errors import problem
from sessions_app.wire.answers import finish

API_PREFIX = "/api/"
DOCS_SUFFIX = "/docs"


class ApiFirst:
    """Sends API requests straight to their view, past the middleware of the pages: no cookie, no CSRF, no messages.

    Stands first in MIDDLEWARE. The API's documentation is a page and takes the pages' way.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if not request.path_info.startswith(API_PREFIX) or request.path_info.endswith(DOCS_SUFFIX):
            return self.get_response(request)
        head = request.method == "HEAD"
        if head:
            request.method = "GET"  # whatever reads, in whatever way, answers HEAD too
        response = _answer(request)
        if isinstance(response, HttpResponse):
            response = finish(request, response)
            if head:
                response.content = b""  # the headers stay those of GET, Content-Length too
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


def _answer(request: HttpRequest) -> HttpResponseBase:
    try:
        match = resolve(request.path_info, "namzu_site.api_urls")  # its own few patterns, not those of the pages
    except Resolver404:
        return problem(HTTPStatus.NOT_FOUND, "not_found", "There is nothing at this address.")
    request.resolver_match = match
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and isinstance(response, HttpResponse):
        detail = "This address does not answer to this method."
        refusal = problem(HTTPStatus.METHOD_NOT_ALLOWED, "method_not_allowed", detail)
        allowed = set(response["Allow"].split(", "))
        refusal["Allow"] = ", ".join(sorted(allowed | {"HEAD"} if "GET" in allowed else allowed))
        return refusal
    return response
