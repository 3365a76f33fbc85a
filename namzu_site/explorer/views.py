"""The explorer: the tree of sessions on the left, the chosen session on the right, one address for each."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from namzu_site.explorer.detail import edge_of, owners_of, status_of
from namzu_site.explorer.tree import ROOTS, Branch, children_branch, open_path, roots_branch
from sessions_app.hierarchy.models import Project, Session, SubSession, Tenant
from sessions_app.hierarchy.rules import SESSION_STATUSES
from sessions_app.wire.cursors import decode_cursor, encode_cursor
from sessions_app.wire.errors import InvalidRequest
from sessions_app.wire.pages import TenantRequest, tenant_page, wants_fragment
from stores_app.session.views import transcript_context

CHILDREN_PAGE = 50


@require_GET
@tenant_page()
def explorer(request: TenantRequest, tenant: Tenant) -> HttpResponse:
    """The roots of the tenant or of one project, newest first, and no session chosen yet."""
    project = _project(tenant, request.GET.get("project"))
    tree = _roots(tenant, project, _cursor(request, datetime, int))
    context = {"project": project, "tree": tree, "statuses": SESSION_STATUSES}
    if wants_fragment(request):
        return render(request, "namzu_site/explorer/_nodes.html", {**context, "branch": context["tree"]})
    return render(request, "namzu_site/explorer/explorer.html", context)


@require_GET
@tenant_page()
def tree_children(request: TenantRequest, tenant: Tenant, session_id: str) -> HttpResponse:
    """The session's children as nodes of the tree; outside of htmx, the session's page."""
    if not wants_fragment(request):
        return HttpResponseRedirect(reverse("session_detail", args=[tenant.public_id, session_id]))
    session = _session(tenant, session_id)
    after = _cursor(request, datetime, str)
    return render(request, "namzu_site/explorer/_nodes.html", {"branch": children_branch(session, after)})


@require_GET
@tenant_page()
def session_detail(request: TenantRequest, tenant: Tenant, session_id: str) -> HttpResponse:
    """The session with its transcript; as a page with the tree opened down to it, for htmx the right pane alone."""
    session = _session(tenant, session_id)
    context = {"tab": "transcript", **transcript_context(request, session)}
    return _render_detail(request, tenant, session, context)


@require_GET
@tenant_page()
def session_children(request: TenantRequest, tenant: Tenant, session_id: str) -> HttpResponse:
    """The session with the table of its children, by spawnedAt, then id."""
    session = _session(tenant, session_id)
    edges = SubSession.objects.children_of(session.pk)
    after = _cursor(request, datetime, str)
    rows = list((edges.after(*after) if after else edges)[: CHILDREN_PAGE + 1])
    shown = rows[:CHILDREN_PAGE]
    more = encode_cursor(shown[-1].spawned_at, shown[-1].public_id) if len(rows) > CHILDREN_PAGE else None
    context = {"tab": "children", "edges": shown, "more": more, "is_first_page": after is None}
    return _render_detail(request, tenant, session, context)


def _render_detail(request: TenantRequest, tenant: Tenant, session: Session, context: dict[str, Any]) -> HttpResponse:
    lineage = list(Session.objects.for_tenant(tenant.pk).with_lineage_of(session).select_related("parent_edge"))
    context |= {
        "session": session,
        "status": status_of(session),
        "edge": edge_of(session),
        "owners": owners_of(session),
        "ancestors": lineage[:-1],
        "project": session.project,
    }
    if wants_fragment(request):
        return render(request, "namzu_site/explorer/_detail.html", context)
    context["tree"] = open_path(_roots(tenant, session.project, None), lineage)
    return render(request, "namzu_site/explorer/session_detail.html", context)


def _session(tenant: Tenant, session_id: str) -> Session:
    sessions = Session.objects.for_tenant(tenant.pk).select_related("project", "parent_edge__parent")
    session = sessions.filter(public_id=session_id).first()
    if session is None:
        raise Http404
    return session


def _project(tenant: Tenant, project_id: str | None) -> Project | None:
    """The project that the query names; Http404 where there is none of this name."""
    if project_id is None:
        return None
    if "\0" in project_id:
        raise Http404
    project = Project.objects.for_tenant(tenant.pk).filter(public_id=project_id).first()
    if project is None:
        raise Http404
    return project


def _roots(tenant: Tenant, project: Project | None, after: tuple[Any, ...] | None) -> Branch:
    roots = Session.objects.for_tenant(tenant.pk).roots().newest_first().with_shape()
    if project is not None:
        roots = roots.filter(project_id=project.pk)
    if after is not None:
        roots = roots.behind(*after)
    return roots_branch(roots[: ROOTS + 1])


def _cursor(request: TenantRequest, *types: type) -> tuple[Any, ...] | None:
    """The cursor of the query; Http404 for one that was not made here."""
    text = request.GET.get("after")
    if text is None:
        return None
    try:
        return decode_cursor(text, *types)
    except InvalidRequest:
        raise Http404 from None
