"""Who may enter which tenant's pages."""

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.test import Client, RequestFactory
from django_htmx.middleware import HtmxDetails

from sessions_app.access.models import Membership, User
from sessions_app.access.rules import Scope
from sessions_app.hierarchy.models import Tenant
from sessions_app.wire.pages import TenantRequest, tenant_page
from tests.factories import make_tenant, make_user, signed_in

pytestmark = pytest.mark.django_db


def _enter(user: User, tenant_id: str, scope: Scope = Scope.READ) -> str:
    """The scope that the view finds."""

    @tenant_page(scope=scope)
    def view(request: TenantRequest, tenant: Tenant) -> HttpResponse:
        assert request.tenant == tenant
        assert str(request.principal) == f"user:{user.username}"
        return HttpResponse(request.principal.scope.word)

    request = RequestFactory().get(f"/t/{tenant_id}/")
    request.user = user
    request.htmx = HtmxDetails(request)  # type: ignore[attr-defined]
    scope_seen: str = view(request, tenant_id=tenant_id).content.decode()
    return scope_seen


@pytest.mark.parametrize(("role", "scope"), [("viewer", "read"), ("operator", "operator"), ("admin", "admin")])
def test_a_member_acts_with_the_scope_of_the_role(role: str, scope: str) -> None:
    tenant = make_tenant()
    assert _enter(make_user(tenant, role), tenant.public_id) == scope


def test_a_role_below_the_scope_is_forbidden() -> None:
    tenant = make_tenant()
    viewer = make_user(tenant, "viewer")
    with pytest.raises(PermissionDenied, match="needs the scope operator; your role here gives read"):
        _enter(viewer, tenant.public_id, Scope.OPERATOR)


def test_a_platform_administrator_enters_every_tenant() -> None:
    assert _enter(make_user(platform_admin=True), make_tenant().public_id, Scope.ADMIN) == "admin"


@pytest.mark.parametrize("platform_admin", [True, False])
def test_an_unknown_tenant_is_not_found(platform_admin: bool) -> None:
    with pytest.raises(Http404):
        _enter(make_user(platform_admin=platform_admin), "tnt_nowhere")


def test_a_foreign_tenant_looks_like_an_unknown_one() -> None:
    client = signed_in(make_user(make_tenant()))
    foreign, unknown = client.get(f"/t/{make_tenant().public_id}/"), client.get("/t/tnt_unknown/")
    assert (foreign.status_code, foreign.content) == (unknown.status_code, unknown.content)
    assert foreign.status_code == 404


def test_a_membership_that_ends_closes_the_door() -> None:
    tenant = make_tenant()
    client = signed_in(make_user(tenant))
    assert client.get(f"/t/{tenant.public_id}/").status_code == 200
    Membership.objects.all().delete()
    assert client.get(f"/t/{tenant.public_id}/").status_code == 404


def test_htmx_is_told_to_leave_for_the_door() -> None:
    tenant = make_tenant()
    here = f"http://testserver/t/{tenant.public_id}/sessions/?q=a"
    headers = {"HX-Request": "true", "HX-Request-Type": "partial", "HX-Current-URL": here}
    response = Client().get(f"/t/{tenant.public_id}/sessions/?q=ab", headers=headers)
    assert response["HX-Redirect"] == f"/sign-in/?next=%2Ft%2F{tenant.public_id}%2Fsessions%2F%3Fq%3Da"


def test_answers_vary_by_how_they_are_asked_for() -> None:
    tenant = make_tenant()
    response = signed_in(make_user(tenant)).get(f"/t/{tenant.public_id}/")
    assert {"HX-Request", "HX-Request-Type", "Cookie"} <= set(response["Vary"].split(", "))


@pytest.mark.parametrize("path", ["/t/tnt_%00/", "/t/%ff/", "/t/tnt_x/projects/prj_%00/", "/t/tnt_" + "x" * 500 + "/"])
def test_paths_that_cannot_be_ids_are_not_found(path: str) -> None:
    assert signed_in(make_user(platform_admin=True)).get(path).status_code == 404
