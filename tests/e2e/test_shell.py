"""The frame and the lists in a real browser."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from sessions_app.access.models import User
from sessions_app.hierarchy.models import Project, Tenant
from tests.factories import (
    PASSWORD,
    agent_actor,
    at,
    make_child,
    make_project,
    make_session,
    make_tenant,
    make_user,
    say,
)

pytestmark = pytest.mark.django_db(transaction=True)
STATUSES = ["active", "idle", "locked", "awaiting_hitl", "awaiting_merge", "failed", "archived"]


@pytest.fixture
def tenant() -> Tenant:
    return make_tenant("Northwind Robotics")


@pytest.fixture
def project(tenant: Tenant) -> Project:
    return make_project(tenant, "Fleet telemetry")


@pytest.fixture
def person(tenant: Tenant) -> User:
    return make_user(tenant, username="mira")


@pytest.fixture
def many(project: Project) -> None:
    for number in range(120):
        owner = agent_actor(project.tenant) if number % 3 else None
        session = make_session(
            project, label=f"Work {number}", status=STATUSES[number % 7], current_actor=owner, now=at(200 - number)
        )
        if number % 10 == 0:
            say(session, "Please look into this")
            make_child(session, kind="user_handoff")


@pytest.fixture
def watched(page: Page) -> Iterator[Page]:
    """The page; in the end nothing may have been refused by the content security policy or thrown by a script."""
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if "Content Security Policy" in message.text else None,
    )
    yield page
    assert complaints == []


def sign_in(page: Page, server: LiveServer, path: str, username: str = "mira") -> None:
    """Goes to the page through the door."""
    page.goto(server.url + path)
    page.get_by_label("User name").fill(username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(server.url + path)


def test_a_person_signs_in_and_out(watched: Page, live_server: LiveServer, tenant: Tenant, person: User) -> None:
    page = watched
    page.goto(live_server.url + "/")
    page.get_by_label("User name").fill("mira")
    page.get_by_label("Password").fill("not it")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Password")).to_have_accessible_description(
        "This user name and password do not fit together."
    )
    expect(page.get_by_label("Password")).to_be_focused()
    page.get_by_label("Password").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}/t/{tenant.public_id}/")
    page.get_by_text("mira", exact=True).first.click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


@pytest.mark.usefixtures("many", "person")
def test_filters_apply_at_once_and_live_in_the_address(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    page, path = watched, f"/t/{tenant.public_id}/sessions/"
    sign_in(page, live_server, path)
    page.get_by_role("checkbox", name="Failed").check()
    expect(page).to_have_url(re.compile(r"\?status=failed$"))
    expect(page.locator("tbody .chip--failed:visible")).to_have_count(17)
    expect(page.get_by_role("status").filter(has_text="17 sessions")).to_have_count(1)
    page.get_by_role("searchbox", name="Title, first line or id").press_sequentially("work 1")
    expect(page).to_have_url(re.compile(r"\?q=work\+1&status=failed$"))
    expect(page.get_by_role("link", name="Work 117")).to_be_visible()
    expect(page.get_by_role("searchbox", name="Title, first line or id")).to_be_focused()
    page.go_back()
    expect(page).to_have_url(re.compile(r"\?status=failed$"))
    expect(page.locator("tbody .chip--failed:visible")).to_have_count(17)
    page.reload()
    expect(page.get_by_role("checkbox", name="Failed")).to_be_checked()
    page.get_by_role("link", name="Clear filters").click()
    expect(page).to_have_url(live_server.url + path)


@pytest.mark.usefixtures("many", "person")
def test_a_wrong_owner_is_told_beside_the_field(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    page = watched
    sign_in(page, live_server, f"/t/{tenant.public_id}/sessions/")
    page.get_by_text("More filters").click()
    page.get_by_label("Owner's id").fill("mira")
    expect(page.locator("#session_owner_error")).to_have_text("Expected an id that begins with usr_, agt_ or sys_.")
    page.get_by_label("Owner's id").fill("agt_planner")
    expect(page.locator("#session_owner_error")).to_be_hidden()
    expect(page.get_by_role("link", name="Work 119")).to_be_visible()


@pytest.mark.usefixtures("many", "person")
def test_scrolling_loads_more_until_the_end(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    page = watched
    sign_in(page, live_server, f"/t/{tenant.public_id}/sessions/?edge=root")
    rows = page.locator("tbody tr.row")
    expect(rows).to_have_count(50)
    page.keyboard.press("End")
    expect(rows).to_have_count(100)
    page.keyboard.press("End")
    expect(rows).to_have_count(120)
    expect(page.get_by_role("link", name="More sessions")).to_have_count(0)
    assert len(set(rows.evaluate_all("rows => rows.map(row => row.id)"))) == 120


@pytest.mark.parametrize("width", [1024, 1280, 1440])
@pytest.mark.usefixtures("person")
def test_no_title_pushes_the_other_columns_out(
    watched: Page, live_server: LiveServer, tenant: Tenant, project: Project, width: int
) -> None:
    make_session(project, label="Donaudampfschiff" * 12)
    watched.set_viewport_size({"width": width, "height": 800})
    sign_in(watched, live_server, f"/t/{tenant.public_id}/sessions/")
    card = watched.locator(".table-card").bounding_box()
    last = watched.locator("tbody tr.row td:visible").last.bounding_box()
    title = watched.locator(".session-cell").bounding_box()
    assert card
    assert last
    assert title
    assert last["x"] + last["width"] <= card["x"] + card["width"]
    assert title["width"] >= 200


@pytest.mark.usefixtures("person")
def test_a_menu_closes_by_escape_and_when_it_is_left(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    sign_in(watched, live_server, f"/t/{tenant.public_id}/")
    summary = watched.locator(".tenant-menu > summary")
    summary.click()
    expect(watched.get_by_role("link", name="All tenants")).to_be_visible()
    watched.keyboard.press("Escape")
    expect(watched.get_by_role("link", name="All tenants")).to_be_hidden()
    expect(summary).to_be_focused()
    summary.press("Enter")
    for _ in range(3):
        watched.keyboard.press("Tab")
    expect(watched.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    expect(watched.get_by_role("link", name="All tenants")).to_be_hidden()


@pytest.mark.usefixtures("person", "many")
def test_the_head_of_a_list_stays_in_sight(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    sign_in(watched, live_server, f"/t/{tenant.public_id}/sessions/")
    watched.mouse.wheel(0, 1500)
    watched.wait_for_function("scrollY > 1000")
    expect(watched.get_by_role("columnheader", name="Owner")).to_be_in_viewport()


@pytest.mark.usefixtures("many", "person")
def test_without_scripts_the_lists_can_be_read(browser: Browser, live_server: LiveServer, tenant: Tenant) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    sign_in(page, live_server, f"/t/{tenant.public_id}/sessions/")
    page.get_by_role("checkbox", name="Failed").check()
    page.get_by_role("button", name="Apply filters").click()
    expect(page.locator("tbody .chip--failed:visible")).to_have_count(17)
    page.goto(f"{live_server.url}/t/{tenant.public_id}/sessions/")
    page.get_by_role("link", name="More sessions").click()
    expect(page.get_by_role("link", name="Back to the top")).to_be_visible()
    page.get_by_text("Northwind Robotics").first.click()
    expect(page.get_by_role("link", name="All tenants")).to_be_visible()
    context.close()


@pytest.mark.usefixtures("person")
def test_the_theme_is_kept_and_there_before_the_first_paint(
    watched: Page, live_server: LiveServer, tenant: Tenant
) -> None:
    page = watched
    page.emulate_media(color_scheme="light")
    sign_in(page, live_server, f"/t/{tenant.public_id}/")
    toggle = page.get_by_role("button", name=re.compile("^Theme:"))
    expect(toggle).to_have_accessible_name("Theme: system. Change")
    light = page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor")
    toggle.click()
    toggle.click()
    expect(toggle).to_have_accessible_name("Theme: dark. Change")
    page.reload(wait_until="commit")
    page.wait_for_function("document.body !== null")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body.parentElement).backgroundColor") != light
    toggle.click()
    page.reload()
    assert page.locator("html").get_attribute("data-theme") is None


@pytest.mark.usefixtures("many", "person")
def test_keys_copy_and_times(watched: Page, live_server: LiveServer, tenant: Tenant) -> None:
    page = watched
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, live_server, f"/t/{tenant.public_id}/")
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search sessions")).to_be_focused()
    page.keyboard.type("work 7")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/sessions/\?q=work\+7$"))
    page.wait_for_load_state()  # the keys come with the script
    page.keyboard.press("Control+k")
    expect(page.get_by_role("searchbox", name="Title, first line or id")).to_be_focused()
    button = page.locator("tbody .copy").first
    button.focus()
    button.press("Enter")
    public_id = button.get_attribute("data-copy")
    expect(page.locator("#toasts")).to_contain_text(f"Copied {public_id}")
    assert page.evaluate("navigator.clipboard.readText()") == public_id
    title = page.locator("time[data-relative]").first.get_attribute("title")
    assert title is not None
    assert re.search(r" local\n.* UTC$", title)


def test_htmx_fills_a_fresh_row_with_times_and_copy_buttons(
    watched: Page, live_server: LiveServer, tenant: Tenant, person: User, many: None
) -> None:
    page = watched
    sign_in(page, live_server, f"/t/{tenant.public_id}/sessions/")
    page.keyboard.press("End")
    expect(page.locator("tbody tr.row")).to_have_count(100)
    assert page.locator("tbody time:not([title*=local])").count() == 0


PAGES = {
    "sign-in": "/sign-in/",
    "tenants": "/?all=1",
    "overview": "/t/{tenant}/",
    "projects": "/t/{tenant}/projects/",
    "project": "/t/{tenant}/projects/{project}/",
    "sessions": "/t/{tenant}/sessions/",
    "refused filters": "/t/{tenant}/sessions/?owner=x&status=failed",
    "no result": "/t/{tenant}/sessions/?q=nothing",
    "not found": "/t/{tenant}/nothing/",
}


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.usefixtures("many", "person")
def test_axe_finds_nothing_and_nothing_overflows(
    watched: Page, live_server: LiveServer, tenant: Tenant, project: Project, theme: Any, width: int
) -> None:
    page = watched
    page.set_viewport_size({"width": width, "height": 800})
    page.emulate_media(color_scheme=theme)
    found: list[str] = []
    found += _look_at(page, live_server.url + "/sign-in/", "sign-in", width)
    sign_in(page, live_server, f"/t/{tenant.public_id}/sessions/")
    for name, path in PAGES.items():
        if name != "sign-in":
            url = live_server.url + path.format(tenant=tenant.public_id, project=project.public_id)
            found += _look_at(page, url, name, width)
    assert found == []


def test_first_steps_pass_axe(watched: Page, live_server: LiveServer) -> None:
    make_user(username="mira", platform_admin=True)
    sign_in(watched, live_server, "/")
    assert _look_at(watched, live_server.url + "/", "first steps", 1280) == []


def _look_at(page: Page, url: str, name: str, width: int) -> list[str]:
    page.goto(url)
    if page.evaluate("document.documentElement.scrollWidth") > width:
        return [f"{name}: wider than the window"]
    for summary in page.locator("main details:not([open]) > summary").all():
        summary.click()
    violations = Axe().run(page).response["violations"]
    return [f"{name}: {v['id']} {[node['target'] for node in v['nodes']]}" for v in violations]
