"""The explorer in a browser: walking the tree by keyboard, lazy levels, one address for each session."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from sessions_app.access.models import User
from sessions_app.hierarchy.models import Project, Session, SubSession
from tests.factories import at, make_child, make_project, make_session, make_user, say, signed_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def project() -> Project:
    return make_project(name="Checkout")


@pytest.fixture
def user(project: Project) -> User:
    return make_user(project.tenant)


@pytest.fixture
def root(project: Project) -> Session:
    """Alpha with Beta (with Gamma) and Delta, and a root beside it."""
    make_session(project, label="Beside", now=at(90))
    root = make_session(project, label="Alpha")
    beta = make_child(root, label="Beta", now=at(60)).child
    make_child(beta, label="Gamma", now=at(50))
    delta = make_child(root, label="Delta", now=at(40))
    SubSession.objects.filter(pk=delta.pk).update(status="archived", archive_ref="arc_1", archived_at=at(10))
    say(root, "Hello from Alpha")
    return root


@pytest.fixture
def desk(page: Page, context: BrowserContext, live_server: LiveServer, user: User) -> Page:
    """A page in which the person is signed in; it fails the test where the policy is violated or a script breaks."""
    cookie = signed_in(user).cookies["namzu_session"].value
    context.add_cookies([{"name": "namzu_session", "value": cookie, "url": live_server.url}])
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.troubles = troubles  # type: ignore[attr-defined]
    return page


def visit(desk: Page, live_server: LiveServer, session: Session, rest: str = "") -> None:
    desk.goto(f"{live_server.url}/t/{session.tenant.public_id}/sessions/{session.public_id}/{rest}")


def focused(desk: Page) -> str:
    return str(desk.evaluate("document.activeElement.querySelector('.node-title')?.textContent ?? ''"))


def press(desk: Page, *keys: str) -> str:
    for key in keys:
        desk.keyboard.press(key)
    return focused(desk)


def check_untroubled(desk: Page) -> None:
    assert not desk.troubles, desk.troubles  # type: ignore[attr-defined]


def check_accessible(desk: Page) -> None:
    results = Axe().run(desk)
    assert results.violations_count == 0, results.generate_report()


def test_the_tree_is_walked_by_keyboard(desk: Page, live_server: LiveServer, root: Session) -> None:
    visit(desk, live_server, root)
    desk.locator('[role="treeitem"][tabindex="0"]').focus()
    assert focused(desk) == "Alpha"
    assert press(desk, "ArrowDown") == "Beta"
    beta = desk.get_by_role("treeitem", name="Beta")
    expect(beta).to_have_attribute("aria-expanded", "false")
    press(desk, "ArrowRight")
    expect(beta).to_have_attribute("aria-expanded", "true")
    expect(desk.get_by_role("treeitem", name="Gamma")).to_be_visible()
    assert press(desk, "ArrowRight") == "Gamma"
    assert press(desk, "ArrowLeft") == "Beta"
    press(desk, "ArrowLeft")
    expect(desk.get_by_role("treeitem", name="Gamma")).to_be_hidden()
    assert press(desk, "End") == "Beside"
    assert press(desk, "Home") == "Alpha"
    assert press(desk, "d") == "Delta"
    desk.wait_for_timeout(800)
    assert press(desk, "b", "e", "s") == "Beside"
    assert press(desk, "ArrowUp") == "Delta"
    expect(desk.locator('[role="treeitem"][tabindex="0"]')).to_have_count(1)
    check_untroubled(desk)


def test_choosing_swaps_the_detail_and_back_returns(desk: Page, live_server: LiveServer, root: Session) -> None:
    visit(desk, live_server, root)
    desk.get_by_role("treeitem", name="Beta").click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Beta")
    beta = Session.objects.get(label="Beta")
    expect(desk).to_have_url(re.compile(rf"/sessions/{beta.public_id}/$"))
    expect(desk).to_have_title(re.compile("^Beta"))
    expect(desk.get_by_role("treeitem", name="Beta")).to_have_attribute("aria-current", "page")
    expect(desk.locator("[role=treeitem][aria-current]")).to_have_count(1)
    desk.go_back()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Alpha")
    expect(desk.locator("[role=treeitem][aria-current]")).to_contain_text("Alpha")
    desk.go_forward()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Beta")
    desk.reload()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Beta")
    expect(desk.get_by_role("treeitem", name="Gamma")).to_be_visible()
    check_untroubled(desk)


def test_enter_opens_the_focused_session(desk: Page, live_server: LiveServer, root: Session) -> None:
    visit(desk, live_server, root)
    desk.locator('[role="treeitem"][tabindex="0"]').focus()
    press(desk, "ArrowDown", "Enter")
    expect(desk.get_by_role("heading", level=1)).to_have_text("Beta")
    assert focused(desk) == "Beta"


def test_children_are_fetched_once_when_opened(desk: Page, live_server: LiveServer, root: Session) -> None:
    asked: list[str] = []
    desk.on("request", lambda request: asked.append(request.url) if "/tree/" in request.url else None)
    visit(desk, live_server, root)
    expect(desk.locator("body")).not_to_contain_text("Gamma")
    twisty = desk.get_by_role("treeitem", name="Beta").locator("[data-twisty]")
    for _ in range(3):
        twisty.click()
    expect(desk.get_by_role("treeitem", name="Gamma")).to_be_visible()
    assert len(asked) == 1
    expect(desk.get_by_role("heading", level=1)).to_have_text("Alpha")


def test_a_deep_link_opens_the_path(desk: Page, live_server: LiveServer, root: Session) -> None:
    visit(desk, live_server, Session.objects.select_related("tenant").get(label="Gamma"))
    for name in ("Alpha", "Beta"):
        expect(desk.get_by_role("treeitem", name=name)).to_have_attribute("aria-expanded", "true")
    expect(desk.get_by_role("treeitem", name="Gamma")).to_have_attribute("aria-current", "page")
    expect(desk.get_by_role("treeitem", name="Delta")).to_contain_text("arc_1")


def test_on_a_phone_the_tree_is_a_drawer(desk: Page, live_server: LiveServer, root: Session) -> None:
    desk.set_viewport_size({"width": 360, "height": 740})
    visit(desk, live_server, root)
    item = desk.get_by_role("treeitem", name="Beta")
    expect(item).to_be_hidden()
    desk.get_by_role("button", name="Tree", exact=True).click()
    expect(item).to_be_visible()
    desk.keyboard.press("Escape")
    expect(item).to_be_hidden()
    expect(desk.get_by_role("button", name="Tree", exact=True)).to_be_focused()
    desk.get_by_role("button", name="Tree", exact=True).click()
    item.click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Beta")
    expect(item).to_be_hidden()
    assert desk.evaluate("document.documentElement.scrollWidth") <= 360


def test_on_a_phone_the_explorer_begins_with_the_tree(desk: Page, live_server: LiveServer, root: Session) -> None:
    desk.set_viewport_size({"width": 360, "height": 740})
    desk.goto(f"{live_server.url}/t/{root.tenant.public_id}/explorer/")
    item = desk.get_by_role("treeitem", name="Alpha")
    expect(item).to_be_visible()
    item.click()
    expect(desk.get_by_role("heading", level=1)).to_have_text("Alpha")
    expect(item).to_be_hidden()
    desk.get_by_role("button", name="Tree", exact=True).click()
    expect(item).to_be_visible()
    check_untroubled(desk)


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_children_fit_whatever_the_width(desk: Page, live_server: LiveServer, root: Session, width: int) -> None:
    desk.set_viewport_size({"width": width, "height": 740})
    make_child(root, label="word" * 50)
    visit(desk, live_server, root, "children/")
    table = desk.locator(".children")
    assert table.evaluate("element => element.scrollWidth <= element.clientWidth")
    for words in ("Beta", "Archived", "Agent spawn"):
        expect(table.get_by_text(words, exact=True).filter(visible=True).first).to_be_visible()


def test_without_a_script_the_tree_is_links(
    browser_context_without_scripts: Page, live_server: LiveServer, root: Session
) -> None:
    bare = browser_context_without_scripts
    visit(bare, live_server, root)
    bare.get_by_role("treeitem", name="Beta").click()
    expect(bare.get_by_role("heading", level=1)).to_have_text("Beta")
    bare.get_by_role("treeitem", name="Gamma").click()
    expect(bare.get_by_role("heading", level=1)).to_have_text("Gamma")


@pytest.fixture
def browser_context_without_scripts(context: BrowserContext, live_server: LiveServer, user: User) -> Page:
    browser = context.browser
    assert browser
    bare = browser.new_context(java_script_enabled=False)
    cookie = signed_in(user).cookies["namzu_session"].value
    bare.add_cookies([{"name": "namzu_session", "value": cookie, "url": live_server.url}])
    return bare.new_page()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(desk: Page, live_server: LiveServer, root: Session, scheme: str, width: int) -> None:
    desk.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    desk.set_viewport_size({"width": width, "height": 800})
    child = Session.objects.select_related("tenant").get(label="Delta")
    for session, rest in ((root, ""), (root, "children/"), (child, "")):
        visit(desk, live_server, session, rest)
        desk.locator(".session-facts > summary").click()
        if width == 360:
            desk.get_by_role("button", name="Tree", exact=True).click()
        expect(desk.get_by_role("treeitem", name="Beside")).to_be_visible()
        check_accessible(desk)
    desk.goto(f"{live_server.url}/t/{root.tenant.public_id}/explorer/")
    check_accessible(desk)
    check_untroubled(desk)
