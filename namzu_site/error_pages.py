"""Answers that no view gives: a page, or for htmx a fragment that fits where it is swapped."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400."""
    return _answer(request, 400, "This request cannot be read.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403, with the reason where the view gave one."""
    return _answer(request, 403, str(exception) or "Your role does not allow this.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: the same for what never was and for what belongs to somebody else."""
    return _answer(request, 404, "There is nothing at this address.")


def server_error(request: HttpRequest) -> HttpResponse:
    """500; asks neither the database nor the session, which may be what failed."""
    if _is_partial(request):
        text = render_to_string("_error.html", {"reason": "Something unexpected went wrong; it is logged."})
        return HttpResponse(text, status=500)
    return HttpResponse(render_to_string("500.html"), status=500)


def _answer(request: HttpRequest, status: int, reason: str) -> HttpResponse:
    template = "_error.html" if _is_partial(request) else f"{status}.html"
    response = render(request, template, {"reason": reason}, status=status)
    response["Vary"] = "HX-Request, HX-Request-Type, Cookie"
    return response


def _is_partial(request: HttpRequest) -> bool:
    return request.headers.get("HX-Request-Type") == "partial"
