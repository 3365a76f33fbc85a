"""The pages of projects and sessions."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from sessions_app.hierarchy.models import Project, Session, Tenant
from tests.factories import (
    agent_actor,
    at,
    make_child,
    make_project,
    make_session,
    make_tenant,
    make_user,
    say,
    signed_in,
)

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true", "HX-Request-Type": "partial"}


@pytest.fixture
def tenant() -> Tenant:
    return make_tenant("Northwind")


@pytest.fixture
def project(tenant: Tenant) -> Project:
    return make_project(tenant, "Telemetry")


@pytest.fixture
def client(tenant: Tenant) -> Client:
    return signed_in(make_user(tenant, "viewer"))


def listed(client: Client, tenant: Tenant, query: str = "", **kwargs: Any) -> list[Session]:
    response = client.get(f"/t/{tenant.public_id}/sessions/?{query}", **kwargs)
    assert response.status_code == 200
    return list(response.context["sessions"])


@pytest.mark.parametrize("page", ["", "projects/", "sessions/"])
def test_an_empty_tenant_says_what_to_do_next(client: Client, tenant: Tenant, page: str) -> None:
    text = client.get(f"/t/{tenant.public_id}/{page}").content.decode()
    assert "yet" in text
    assert "data-copy=" in text


def test_a_row_tells_what_the_session_is(client: Client, tenant: Tenant, project: Project) -> None:
    session = make_session(project, status="awaiting_hitl", label="Find the <b>leak</b>", now=at(90))
    for _ in range(3):
        say(session, "hello", now=at(5))
    make_child(session)
    text = client.get(f"/t/{tenant.public_id}/sessions/?status=awaiting_hitl").content.decode()
    for part in (
        "Find the &lt;b&gt;leak&lt;/b&gt;",
        "Awaits a person",
        session.public_id,
        "usr_mira",
        "Telemetry",
        "Root",
    ):
        assert part in text
    assert "Has sub-sessions" in text
    assert ">5 min ago</time>" in text
    assert ">1 h ago</time>" in text


def test_without_a_label_the_first_user_line_names_the_session(
    client: Client, tenant: Tenant, project: Project
) -> None:
    say(make_session(project), "\n  What broke?\nMore")
    make_session(project)
    text = client.get(f"/t/{tenant.public_id}/sessions/").content.decode()
    assert "><bdi>What broke?</bdi></a>" in text
    assert "Untitled" in text


def test_titles_hide_nothing_in_lists(client: Client, tenant: Tenant, project: Project) -> None:
    make_session(project, label="safe\u202eexe.txt", status="failed")
    for page in ("", "sessions/", f"projects/{project.public_id}/"):
        assert "U+202E RIGHT-TO-LEFT OVERRIDE" in client.get(f"/t/{tenant.public_id}/{page}").content.decode()


def test_the_overview_orders_by_the_times_it_shows(client: Client, tenant: Tenant, project: Project) -> None:
    talking = make_session(project, status="active", now=at(90))
    silent = make_session(project, status="active", now=at(60))
    say(talking, "still here", now=at(5))
    response = client.get(f"/t/{tenant.public_id}/")
    assert response.context["running"] == [talking, silent]
    assert list(response.context["latest"]) == [silent, talking]


def test_each_filter_narrows_the_list(client: Client, tenant: Tenant, project: Project) -> None:
    other = make_project(tenant)
    old = make_session(project, status="failed", label="Parse logs", now=at(60 * 24 * 3))
    fresh = make_session(other, label="Write report", current_actor=agent_actor(tenant, "agt_coder"))
    edge = make_child(old, kind="intervention", label="Parse again", status="active")
    child = edge.child
    for query, expected in {
        "": {old, fresh, child},
        f"project={other.public_id}": {fresh},
        "status=failed&status=active": {old, child},
        "owner=agt_coder": {fresh},
        "owner=agt_coder&owner_kind=user": set(),
        "owner_kind=agent": {fresh, child},
        "edge=root": {old, fresh},
        "edge=intervention": {child},
        "age=24h": {fresh, child},
        "q=pars": {old, child},
        f"q={fresh.public_id}": {fresh},
        "q=pars&age=1h&status=active&owner_kind=agent&edge=intervention": {child},
        "q=%26+%7C+%21": set(),
    }.items():
        assert set(listed(client, tenant, query)) == expected, query


def test_an_empty_result_offers_to_clear_the_filters(client: Client, tenant: Tenant, project: Project) -> None:
    make_session(project)
    text = client.get(f"/t/{tenant.public_id}/sessions/?q=nothing+like+this").content.decode()
    assert "No session fits these filters" in text
    assert "clear them all" in text


def test_pages_follow_each_other_without_gap_or_repeat(client: Client, tenant: Tenant, project: Project) -> None:
    moment = at(10)
    everything = [make_session(project, now=moment, status="failed") for _ in range(120)]
    found: list[Session] = []
    query = "status=failed"
    while query:
        response = client.get(f"/t/{tenant.public_id}/sessions/?{query}", headers=HTMX)
        found += response.context["sessions"]
        query = response.context["more_query"]
    assert found == everything[::-1]


def test_without_scripts_a_link_leads_to_the_next_page(client: Client, tenant: Tenant, project: Project) -> None:
    for _ in range(51):
        make_session(project)
    first = client.get(f"/t/{tenant.public_id}/sessions/?edge=root")
    more = f"/t/{tenant.public_id}/sessions/?{first.context['more_query']}"
    assert f'href="{more}"'.replace("&", "&amp;") in first.content.decode()
    second = client.get(more)
    assert len(second.context["sessions"]) == 1
    assert "Back to the top" in second.content.decode()
    assert "<html" in second.content.decode()


def test_htmx_gets_the_part_it_swaps_and_a_clean_address(client: Client, tenant: Tenant) -> None:
    here = f"/t/{tenant.public_id}/sessions/"
    response = client.get(here + "?q=&project=&status=failed&age=", headers=HTMX)
    assert "<html" not in response.content.decode()
    assert response["HX-Push-Url"] == here + "?status=failed"
    again = {**HTMX, "HX-Current-URL": f"http://testserver{here}?status=failed"}
    assert client.get(here + "?status=failed", headers=again)["HX-Push-Url"] == "false"
    restored = {"HX-Request": "true", "HX-Request-Type": "full", "HX-History-Restore-Request": "true"}
    assert "<html" in client.get(here, headers=restored).content.decode()


@pytest.mark.parametrize("page", ["sessions/", "projects/", "projects/{project}/"])
@pytest.mark.parametrize("cursor", ["x", "%00", "%ff", "bnVsbA", "W10", "WyIyMDI2IiwxXQ", "[" * 400, "é", "A" * 5000])
def test_a_cursor_that_was_not_made_here_is_refused_kindly(
    client: Client, tenant: Tenant, project: Project, page: str, cursor: str
) -> None:
    url = f"/t/{tenant.public_id}/{page.format(project=project.public_id)}?cursor={cursor}"
    for headers in ({}, HTMX):
        response = client.get(url, headers=headers)
        assert response.status_code == 422
        assert 'role="alert"' in response.content.decode()
    assert "<tr" in response.content.decode()


@pytest.mark.parametrize("name", ["q", "project", "status", "owner_kind", "owner", "edge", "age", "nonsense"])
@pytest.mark.parametrize(
    "value", ["%00", "a%00b", "%ff%fe", "%ed%a0%80", "x" * 3000, "'%22%3E%3Cscript%3E", "%F0%9F%98%80", "%25"]
)
def test_no_filter_value_breaks_the_page(client: Client, tenant: Tenant, name: str, value: str) -> None:
    url = f"/t/{tenant.public_id}/sessions/?{name}={value}"
    for headers in ({}, HTMX):
        response = client.get(url, headers=headers)
        assert response.status_code in (200, 422)
        assert "<script>" not in response.content.decode().replace("<script src", "")


def test_a_thousand_and_one_parameters_are_a_bad_request(client: Client, tenant: Tenant) -> None:
    response = client.get(f"/t/{tenant.public_id}/sessions/?" + "status=failed&" * 1100)
    assert response.status_code == 400
    assert "This request cannot be read" in response.content.decode()


def test_a_refused_filter_is_called_as_on_the_page(client: Client, tenant: Tenant) -> None:
    text = client.get(f"/t/{tenant.public_id}/sessions/?age=ever&edge=chance").content.decode()
    for words in ("<b>Created:</b>", "“ever” is none of the choices.", "<b>Origin:</b>", "“chance”"):
        assert words in text


def test_a_wrong_owner_is_named_beside_its_field(client: Client, tenant: Tenant) -> None:
    response = client.get(f"/t/{tenant.public_id}/sessions/?owner=mira", headers=HTMX)
    assert response.status_code == 422
    assert 'id="session_owner_error"' in response.content.decode()
    assert "Expected an id that begins with usr_, agt_ or sys_." in response.content.decode()


def test_a_project_shows_limits_counts_and_roots(client: Client, tenant: Tenant) -> None:
    project = make_project(tenant, "Checkout", config={"maxDelegationWidth": 23})
    root = make_session(project, status="failed")
    make_child(root, status="active")
    response = client.get(f"/t/{tenant.public_id}/projects/{project.public_id}/")
    assert list(response.context["sessions"]) == [root]
    assert {c.status: c.number for c in response.context["counts"] if c.number} == {"failed": 1, "active": 1}
    assert ">23</dd>" in "".join(response.content.decode().split())


def test_a_foreign_project_is_not_found(client: Client, tenant: Tenant) -> None:
    foreign = make_project()
    assert client.get(f"/t/{tenant.public_id}/projects/{foreign.public_id}/").status_code == 404
    assert client.get(f"/t/{tenant.public_id}/sessions/?project={foreign.public_id}").status_code == 422


def test_lists_hold_nothing_of_another_tenant(client: Client, tenant: Tenant, project: Project) -> None:
    make_session(make_project(make_tenant("Harbour"), "Claims"), label="Secret", status="active")
    for page in ("", "projects/", "sessions/"):
        text = client.get(f"/t/{tenant.public_id}/{page}").content.decode()
        assert not {"Secret", "Claims", "Harbour"} & set(text.split())
        assert "Secret" not in text


def test_counting_stops_at_a_thousand(
    client: Client, tenant: Tenant, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sessions_app.hierarchy.views.COUNT_LIMIT", 3)
    for _ in range(7):
        make_session(project)
    counts = client.get(f"/t/{tenant.public_id}/").context["counts"]
    assert {c.status: c.number for c in counts}["idle"] == 4


PAGES: dict[str, Callable[[Tenant, Project], str]] = {
    "overview": lambda tenant, project: f"/t/{tenant.public_id}/",
    "projects": lambda tenant, project: f"/t/{tenant.public_id}/projects/",
    "project": lambda tenant, project: f"/t/{tenant.public_id}/projects/{project.public_id}/",
    "sessions": lambda tenant, project: f"/t/{tenant.public_id}/sessions/",
    "filtered": lambda tenant, project: f"/t/{tenant.public_id}/sessions/?edge=agent_spawn&project={project.public_id}",
}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_asks_as_often_for_many_rows_as_for_few(
    client: Client, tenant: Tenant, project: Project, page: str
) -> None:
    counts = []
    for rows in (2, 20):
        for _ in range(rows):
            say(make_session(project, status="active"), "hello")
            make_child(make_session(make_project(tenant), status="failed"))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(PAGES[page](tenant, project)).status_code == 200
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[0] <= 12
