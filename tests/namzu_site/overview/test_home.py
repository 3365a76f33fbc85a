"""The front page, the frame around pages, and pages that say no."""

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from namzu_site.error_pages import forbidden
from tests.factories import make_project, make_session, make_tenant, make_user, signed_in

pytestmark = pytest.mark.django_db


def test_an_empty_installation_says_how_to_begin() -> None:
    text = signed_in(make_user(platform_admin=True)).get("/").content.decode()
    python = ".venv/bin/python manage.py"
    for command in (f"{python} create_tenant", f"{python} create_api_key", "make run IMPORT=", f"{python} demo"):
        assert f'data-copy="{command}' in text


def test_a_person_without_a_tenant_learns_whom_to_ask() -> None:
    make_tenant()
    text = signed_in(make_user()).get("/").content.decode()
    assert "You are in no tenant yet" in text
    assert "create_tenant" not in text


def test_the_only_tenant_is_entered_at_once() -> None:
    tenant = make_tenant()
    make_tenant()
    client = signed_in(make_user(tenant))
    assert client.get("/")["Location"] == f"/t/{tenant.public_id}/"
    assert client.get("/?all=1").status_code == 200


def test_several_tenants_are_a_choice_with_their_size() -> None:
    first, second = make_tenant("Harbour"), make_tenant("Northwind")
    make_session(make_project(second))
    client = signed_in(make_user(platform_admin=True))
    found = client.get("/").context["tenants"]
    assert [(t, t.project_count, t.session_count) for t in found] == [(first, 0, 0), (second, 1, 1)]
    assert list(client.get("/?q=north").context["tenants"]) == [second]
    assert list(client.get(f"/?q={first.public_id}").context["tenants"]) == [first]


@pytest.mark.parametrize("text", ["%00", "%", "_", "%ff", "x" * 5000, "%5C"])
def test_no_search_breaks_the_choice(text: str) -> None:
    make_tenant()
    assert signed_in(make_user(platform_admin=True)).get(f"/?all=1&q={text}").status_code == 200


def test_the_choice_is_bounded_and_asks_no_oftener_for_more() -> None:
    client = signed_in(make_user(platform_admin=True))
    counts = []
    for number in (2, 60):
        for _ in range(number):
            make_tenant()
        with CaptureQueriesContext(connection) as queries:
            response = client.get("/")
        counts.append(len(queries))
    assert len(response.context["tenants"]) == 50
    assert response.context["has_more"]
    assert counts[0] == counts[1]


def test_the_switcher_offers_what_the_person_may_enter() -> None:
    tenant, other = make_tenant("Mine"), make_tenant("Theirs")
    text = signed_in(make_user(tenant)).get(f"/t/{tenant.public_id}/").content.decode()
    assert f"/t/{tenant.public_id}/" in text
    assert other.public_id not in text


def test_only_the_section_of_the_page_is_lit() -> None:
    tenant = make_tenant()
    response = signed_in(make_user(tenant)).get(f"/t/{tenant.public_id}/projects/")
    assert [link.label for link in response.context["shell"].sections if link.active] == ["Projects"]


def test_a_stranger_is_asked_nothing_of_the_database(client: Client) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert client.get("/").status_code == 302
        assert client.get("/sign-in/").status_code == 200
        assert client.get("/nowhere/").status_code == 404
    assert len(queries) == 0


def test_what_is_not_there_is_a_page_or_a_fragment(client: Client) -> None:
    page = client.get("/nowhere/").content.decode()
    assert "<html" in page
    assert "There is nothing here" in page
    fragment = client.get("/nowhere/", headers={"HX-Request": "true", "HX-Request-Type": "partial"})
    assert fragment.status_code == 404
    assert "<html" not in fragment.content.decode()
    assert 'role="alert"' in fragment.content.decode()


def test_too_little_a_role_is_told_with_the_reason(rf: RequestFactory) -> None:
    page = forbidden(rf.get("/"), PermissionDenied("This needs the scope operator."))
    assert page.status_code == 403
    assert "This needs the scope operator." in page.content.decode()
    assert "<html" in page.content.decode()


def test_a_failure_of_ours_is_a_page_that_asks_nothing_of_the_database(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_user: object) -> None:
        raise RuntimeError("made to fail")

    monkeypatch.setattr("namzu_site.overview.pages.tenants_of", fail)
    client = signed_in(make_user())
    client.raise_request_exception = False
    page = client.get("/")
    assert page.status_code == 500
    assert "Something went wrong" in page.content.decode()
    fragment = client.get("/", headers={"HX-Request": "true", "HX-Request-Type": "partial"})
    assert fragment.status_code == 500
    assert "<html" not in fragment.content.decode()


def test_pages_forbid_inline_scripts_and_styles() -> None:
    tenant = make_tenant()
    make_session(make_project(tenant))
    response = signed_in(make_user(tenant)).get(f"/t/{tenant.public_id}/sessions/")
    policy = response["Content-Security-Policy"]
    assert "unsafe-" not in policy
    text = response.content.decode()
    assert " style=" not in text
    assert "<style" not in text
    assert " onclick=" not in text
