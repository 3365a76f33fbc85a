"""Pages of a tenant's projects and sessions."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from sessions_app.hierarchy.forms import PlaceForm, SessionFilterForm
from sessions_app.hierarchy.models import Project, Session, SessionQuerySet, Tenant
from sessions_app.hierarchy.rules import SESSION_STATUSES
from sessions_app.tenancy import NewestFirst
from sessions_app.wire.cursors import encode_cursor
from sessions_app.wire.pages import TenantRequest, tenant_page, wants_fragment

PAGE_SIZE = 50
GLANCE_SIZE = 8
COUNT_LIMIT = 1000
ATTENTION = ("awaiting_hitl", "failed", "awaiting_merge")
_TEMPLATES = "sessions_app/hierarchy/"


@dataclass(frozen=True, slots=True)
class StatusCount:
    """How many sessions have the status (counted up to COUNT_LIMIT + 1), and where they are listed."""

    status: str
    number: int
    url: str


@require_safe
@tenant_page()
def tenant_home(request: TenantRequest, tenant: Tenant) -> HttpResponse:
    """What runs, what waits for somebody, what came last."""
    sessions = Session.objects.for_tenant(tenant.pk).with_shape().newest_first()
    counts = SessionQuerySet.count_by_status(tenant.pk, most=COUNT_LIMIT + 1)
    projects = Project.objects.for_tenant(tenant.pk).newest_first()
    context = {
        "counts": _status_counts(tenant, counts),
        "session_count": sum(counts.values()),
        "attention": _latest_word_first(sessions.filter(status__in=ATTENTION)[:GLANCE_SIZE]),
        "running": _latest_word_first(sessions.filter(status="active")[:GLANCE_SIZE]),
        "latest": sessions[:GLANCE_SIZE],
        "projects": _with_counts(tenant, list(projects[:GLANCE_SIZE])),
    }
    return render(request, _TEMPLATES + "tenant_home.html", context)


@require_safe
@tenant_page()
def project_list(request: TenantRequest, tenant: Tenant) -> HttpResponse:
    """The tenant's projects, newest first, with what their sessions are at."""
    place = PlaceForm(request.GET)
    context: dict[str, Any] = {"place": place, "statuses": SESSION_STATUSES}
    if place.is_valid():
        found, context["more_query"] = _page(Project.objects.for_tenant(tenant.pk).newest_first(), place, "")
        context["projects"] = _with_counts(tenant, found)
    rows = wants_fragment(request) and "cursor" in request.GET
    template = "_project_rows.html" if rows else "project_list.html"
    return render(request, _TEMPLATES + template, context, status=200 if place.is_valid() else 422)


@require_safe
@tenant_page()
def project_detail(request: TenantRequest, tenant: Tenant, *, project_id: str) -> HttpResponse:
    """A project's limits, what its sessions are at, and its roots, newest first."""
    project = Project.objects.for_tenant(tenant.pk).filter(public_id=project_id).first()
    if project is None:
        raise Http404
    place = PlaceForm(request.GET)
    context: dict[str, Any] = {"project": project, "place": place, "hide_project": True}
    if place.is_valid():
        roots = Session.objects.for_tenant(tenant.pk).filter(project=project).roots().with_shape().newest_first()
        context["sessions"], context["more_query"] = _page(roots, place, "")
    status = 200 if place.is_valid() else 422
    if wants_fragment(request) and "cursor" in request.GET:
        return render(request, _TEMPLATES + "_session_rows.html", context, status=status)
    counts = SessionQuerySet.count_in_projects(tenant.pk, [project.pk], most=COUNT_LIMIT + 1)[project.pk]
    context["counts"] = _status_counts(tenant, counts, project=project_id)
    context["session_count"] = sum(counts.values())
    return render(request, _TEMPLATES + "project_detail.html", context, status=status)


@require_safe
@tenant_page()
def session_list(request: TenantRequest, tenant: Tenant) -> HttpResponse:
    """The tenant's sessions that the filters in the URL let through, newest first."""
    form = SessionFilterForm(request.GET, tenant_id=tenant.pk)
    context: dict[str, Any] = {"form": form, "statuses": SESSION_STATUSES, "place": form}
    if form.is_valid():
        everything = Session.objects.for_tenant(tenant.pk).with_shape().newest_first()
        found = form.narrow(everything, now=timezone.now())
        context["sessions"], context["more_query"] = _page(found, form, form.query())
    response = render(request, _TEMPLATES + _session_template(request), context, status=200 if form.is_valid() else 422)
    if wants_fragment(request) and "cursor" not in request.GET:
        _show_address(request, response, form.query())
    return response


def _latest_word_first(sessions: Iterable[Session]) -> list[Session]:
    """In the order of the times that stand beside them."""
    return sorted(sessions, key=lambda session: session.last_message_at or session.created_at, reverse=True)


def _session_template(request: TenantRequest) -> str:
    if not wants_fragment(request):
        return "session_list.html"
    return "_session_rows.html" if "cursor" in request.GET else "_session_results.html"


def _show_address(request: TenantRequest, response: HttpResponse, query: str) -> None:
    """The address bar gets the filters that are set and no empty ones; an unchanged one is no step in the history."""
    address = f"{request.path}?{query}" if query else request.path
    response["HX-Push-Url"] = "false" if address == request.htmx.current_url_abs_path else address


def _page(found: NewestFirst[Any], place: PlaceForm, query: str) -> tuple[list[Any], str]:
    """The rows of this page, and the query of the next one: empty after the last."""
    after: tuple[datetime, int] | None = place.cleaned_data["cursor"]
    rows = list((found.behind(*after) if after else found)[: PAGE_SIZE + 1])
    if len(rows) <= PAGE_SIZE:
        return rows, ""
    last = rows[PAGE_SIZE - 1]
    cursor = urlencode({"cursor": encode_cursor(last.created_at, last.pk)})
    return rows[:PAGE_SIZE], f"{query}&{cursor}" if query else cursor


def _status_counts(tenant: Tenant, counts: dict[str, int], **filters: str) -> list[StatusCount]:
    listing = reverse("session_list", args=[tenant.public_id])
    return [
        StatusCount(status, counts[status], f"{listing}?{urlencode({**filters, 'status': status})}")
        for status in SESSION_STATUSES
    ]


def _with_counts(tenant: Tenant, projects: list[Project]) -> list[tuple[Project, list[StatusCount]]]:
    counts = SessionQuerySet.count_in_projects(tenant.pk, [p.pk for p in projects], most=COUNT_LIMIT + 1)
    return [(p, _status_counts(tenant, counts[p.pk], project=p.public_id)) for p in projects]
