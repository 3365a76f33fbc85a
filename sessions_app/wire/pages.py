"""What every page of a tenant begins with: who is it, may they be here, is it a page or a fragment that they want."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, cast

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.urls import register_converter
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from sessions_app.access.models import Membership, User
from sessions_app.access.rules import ROLE_SCOPES, Principal, Scope
from sessions_app.hierarchy.models import Tenant


class PageRequest(HttpRequest):
    """A request as the middleware leaves it."""

    htmx: HtmxDetails


class TenantRequest(PageRequest):
    """A request that has passed `tenant_page`."""

    user: User
    tenant: Tenant
    principal: Principal


class _View(Protocol):
    def __call__(self, request: TenantRequest, tenant: Tenant, /, **kwargs: Any) -> HttpResponseBase: ...


class PublicIdConverter:
    """`<public_id:…>` in a route: what cannot be an id (domain.md §2) is not found, whatever bytes it holds."""

    regex = "[a-z]+_[0-9A-Za-z._-]{1,60}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(PublicIdConverter, "public_id")


def wants_fragment(request: PageRequest) -> bool:
    """True where htmx swaps a part of the page; a history restore and `hx-select` get the whole one."""
    return bool(request.htmx) and request.htmx.request_type == "partial"


def redirect_to_sign_in(request: PageRequest) -> HttpResponse:
    """The way to the sign-in page and back to where the person is; htmx is told to leave the page."""
    there = (request.htmx.current_url_abs_path or "/") if request.htmx else request.get_full_path()
    url = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': there})}"
    return HttpResponseClientRedirect(url) if request.htmx else HttpResponseRedirect(url)


def tenant_page(*, scope: Scope = Scope.READ) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., Any]]:
    """A view `view(request, tenant, …)` of the tenant whose public id is the URL's `tenant_id`.

    Not signed in: to the sign-in page. Unknown tenants and those of others: the same 404. A role below `scope`: 403.
    """

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @wraps(view)
        def page(request: HttpRequest, tenant_id: str, **kwargs: Any) -> HttpResponseBase:
            entered = cast(TenantRequest, request)
            response = _enter(entered, tenant_id, scope) or cast(_View, view)(entered, entered.tenant, **kwargs)
            patch_vary_headers(response, ("HX-Request", "HX-Request-Type"))
            return response

        return page

    return decorate


def _enter(request: PageRequest, tenant_id: str, scope: Scope) -> HttpResponse | None:
    """Sets tenant and principal; an answer only where the person has to sign in first."""
    if not request.user.is_authenticated:
        return redirect_to_sign_in(request)
    if "\0" in request.path_info:
        raise Http404
    entered = cast(TenantRequest, request)
    entered.tenant, entered.principal = _resolve(entered.user, tenant_id)
    actual = entered.principal.scope
    if actual < scope:
        raise PermissionDenied(f"This needs the scope {scope.word}; your role here gives {actual.word}.")
    return None


def _resolve(user: User, tenant_id: str) -> tuple[Tenant, Principal]:
    """The tenant and who acts there; Http404 where it is not there for this person."""
    if user.is_platform_admin:
        tenant = Tenant.objects.filter(public_id=tenant_id).first()
        if tenant is None:
            raise Http404
        return tenant, Principal(kind="user", ref=user.username, scope=Scope.ADMIN, tenant_id=None)
    membership = Membership.objects.select_related("tenant").filter(user=user, tenant__public_id=tenant_id).first()
    if membership is None:
        raise Http404
    tenant = membership.tenant
    role = ROLE_SCOPES[membership.role]
    return tenant, Principal(kind="user", ref=user.username, scope=role, tenant_id=tenant.pk, actor=membership.actor)
