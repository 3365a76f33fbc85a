"""Fragments of a transcript, one message in full, its JSON, and its permalink."""

from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET

from sessions_app.hierarchy.models import Session, Tenant
from sessions_app.wire.errors import NotFound
from sessions_app.wire.pages import TenantRequest, tenant_page, wants_fragment
from stores_app.session.article import form_of
from stores_app.session.body import read_body
from stores_app.session.models import Message
from stores_app.session.output import WHOLE, Form, block, passage
from stores_app.session.transcript import Stretch, Window, read_stretch

_MOST = 2**63 - 1


def read_window(request: TenantRequest) -> Window:
    """The window that the query names; Http404 for what is none."""
    query = request.GET
    return Window(
        after=_number(query.get("after")),
        before=_number(query.get("before")),
        at=query.get("at"),
        last="last" in query,
    )


def transcript_context(request: TenantRequest, session: Session) -> dict[str, Any]:
    """What `stores_app/session/_transcript.html` shows of the session; Http404 for a window that is none."""
    window = read_window(request)
    try:
        stretch = read_stretch(session, window)
    except NotFound:
        raise Http404 from None
    ids = [request.tenant.public_id, session.public_id]
    return {
        "stretch": stretch,
        "articles": mark_safe("\n".join(stretch.html)),  # noqa: S308 - sanitised where it is made
        "page_url": reverse("session_detail", args=ids),
        "stretch_url": reverse("transcript_stretch", args=ids),
        "offers_earlier": stretch.has_earlier and window.after is None,
        "offers_later": stretch.has_later and window.before is None,
        "results_before": _results_before(stretch),
    }


@require_GET
@tenant_page()
def transcript_stretch(request: TenantRequest, tenant: Tenant, session_id: str) -> HttpResponse:
    """The stretch of the window; outside of htmx, the session's page at the same window."""
    if not wants_fragment(request):
        query = request.GET.urlencode()
        return HttpResponseRedirect(f"{reverse('session_detail', args=[tenant.public_id, session_id])}?{query}")
    session = _session(tenant, session_id)
    return render(request, "stores_app/session/_stretch.html", transcript_context(request, session))


@require_GET
@tenant_page()
def message_link(request: TenantRequest, tenant: Tenant, session_id: str, message_id: str) -> HttpResponse:
    """On to the session's page, at the message."""
    message = _message(tenant, session_id, message_id, "public_id")
    page = reverse("session_detail", args=[tenant.public_id, session_id])
    return HttpResponseRedirect(f"{page}?at={message.public_id}#{message.public_id}")


@require_GET
@tenant_page()
def message_raw(request: TenantRequest, tenant: Tenant, session_id: str, message_id: str) -> HttpResponse:
    """The message's JSON, byte for byte as it came."""
    message = _message(tenant, session_id, message_id, "raw")
    response = HttpResponse(bytes(message.raw), content_type="application/json")
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    response["Content-Disposition"] = 'inline; filename="message.json"'
    return response


@require_GET
@tenant_page()
def message_full(request: TenantRequest, tenant: Tenant, session_id: str, message_id: str) -> HttpResponse:
    """The whole content of the message, or of the arguments of its `call`; very long ones in parts, by `from`."""
    message = _message(tenant, session_id, message_id, "public_id", "seq", "role", "raw")
    call, start = _number(request.GET.get("call")), _number(request.GET.get("from")) or 0
    text, form = _text_of(message, call)
    shown = passage(text, form, start=start, most=WHOLE)
    here = reverse("message_full", args=[tenant.public_id, session_id, message_id])
    also = "" if call is None else f"&call={call}"
    html = block(shown, f"{here}?from={shown.until}{also}", swaps="closest .cut")
    if wants_fragment(request):
        return HttpResponse(html)
    context = {
        "session_id": session_id,
        "message": message,
        "call": call,
        "start": start,
        "output": mark_safe(html),  # noqa: S308 - sanitised where it is made
        "page_url": reverse("session_detail", args=[tenant.public_id, session_id]),
    }
    return render(request, "stores_app/session/message_full.html", context)


def _text_of(message: Message, call: int | None) -> tuple[str, Form]:
    body = read_body(bytes(message.raw))
    if call is None:
        return body.content or "", form_of(message.role) if body.readable else Form.PLAIN
    if call >= len(body.calls):
        raise Http404
    return body.calls[call].arguments, Form.PLAIN


def _session(tenant: Tenant, session_id: str) -> Session:
    session = Session.objects.for_tenant(tenant.pk).filter(public_id=session_id).first()
    if session is None:
        raise Http404
    return session


def _message(tenant: Tenant, session_id: str, message_id: str, *fields: str) -> Message:
    messages = Message.objects.for_tenant(tenant.pk).filter(session__public_id=session_id, public_id=message_id)
    message = messages.only("session_id", "seq", *fields).first()
    if message is None:
        raise Http404
    return message


def _number(text: str | None) -> int | None:
    """A number of the query; Http404 for what is none."""
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= _MOST):
        raise Http404
    return int(text)


def _results_before(stretch: Stretch) -> int:
    """How many messages of an otherwise empty stretch are shown with their calls further up."""
    return 0 if stretch.html else stretch.with_calls_before
