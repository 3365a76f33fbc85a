"""The front page: to the only tenant, to a choice of several, or to the first steps of an empty installation."""

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from namzu_site.shell import tenants_of
from sessions_app.wire.pages import PageRequest, redirect_to_sign_in

CHOICES = 50
COUNT_LIMIT = 1000


@require_safe
def home(request: PageRequest) -> HttpResponse:
    """The tenants the person may enter; `all` stays here even for a single one, `q` narrows by name or id."""
    if not request.user.is_authenticated:
        return redirect_to_sign_in(request)
    text = request.GET.get("q", "").replace("\0", "").strip()[:200]
    allowed = tenants_of(request.user)
    found = (allowed.named(text) if text else allowed).with_size(most=COUNT_LIMIT + 1)
    tenants = list(found[: CHOICES + 1])
    if not text and not tenants:
        return render(request, "namzu_site/overview/first_steps.html")
    if not text and len(tenants) == 1 and "all" not in request.GET:
        return redirect("tenant_home", tenants[0].public_id)
    context = {"tenants": tenants[:CHOICES], "has_more": len(tenants) > CHOICES, "text": text}
    return render(request, "namzu_site/overview/tenant_list.html", context)
