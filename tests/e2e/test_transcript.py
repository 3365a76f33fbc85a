"""A transcript in a browser: permalinks, copying, folding, and growing without losing the reader's place."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from sessions_app.hierarchy.models import Session
from stores_app.session.actions import NewMessage, append_messages
from stores_app.session.rules import read_message
from tests.factories import BY, at, make_session, make_user, signed_in

pytestmark = pytest.mark.django_db(transaction=True)
MARKDOWN = "# Plan\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```python\nx = {'a': 1}  # yes\n```\n\n![cat](https://e.example/c.png)"
CALLS = [
    ("c1", "read_file", '{"path": "a.py", "n": [1, {"x": null}]}'),
    ("c2", "search", "not json {{{"),
]
TOOLS: list[dict[str, Any]] = [
    {"role": "system", "content": "You are careful."},
    {"role": "user", "content": "Fix it \u202eplease\u202c 👍🏽\nnow"},
    {
        "role": "assistant",
        "content": MARKDOWN,
        "toolCalls": [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in CALLS
        ],
        "vendorExtra": {"k": [1]},
    },
    {"role": "tool", "toolCallId": "c1", "content": "".join(f"output line {n}\n" for n in range(4000))},
    {"role": "tool", "toolCallId": "gone", "content": '{"ok": true, "nested": {"a": [1, 2]}}'},
    {"role": "assistant", "content": None},
]


@pytest.fixture
def session() -> Session:
    return make_session(label="Told")


def write(session: Session, messages: Iterable[dict[str, Any]]) -> list[str]:
    raws = [json.dumps(message).encode() for message in messages]
    new = [NewMessage(raw=raw, facts=read_message(raw)) for raw in raws]
    made = append_messages(
        tenant_id=session.tenant_id,
        session_id=session.public_id,
        messages=new,
        by=BY,
        actor=session.current_actor,
        now=at(),
    )
    return made.ids


def users(count: int) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"This is message {number}"} for number in range(1, count + 1)]


@pytest.fixture
def desk(page: Page, context: BrowserContext, live_server: LiveServer, session: Session) -> Page:
    """A page in which a member is signed in, with what went wrong in `troubles`."""
    cookie = signed_in(make_user(session.tenant)).cookies["namzu_session"].value
    context.add_cookies([{"name": "namzu_session", "value": cookie, "url": live_server.url}])
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.troubles = troubles  # type: ignore[attr-defined]
    return page


def visit(desk: Page, live_server: LiveServer, session: Session, rest: str = "") -> None:
    desk.goto(f"{live_server.url}/t/{session.tenant.public_id}/sessions/{session.public_id}/{rest}")


def check_untroubled(desk: Page) -> None:
    assert not desk.troubles, desk.troubles  # type: ignore[attr-defined]


def test_all_of_a_long_output_is_shown_on_demand(desk: Page, live_server: LiveServer, session: Session) -> None:
    write(session, TOOLS)
    visit(desk, live_server, session)
    desk.get_by_role("button", name="Expand tools").click()
    output = desk.locator(".call .message--tool .output")
    expect(output).not_to_contain_text("output line 3999")
    desk.get_by_role("link", name="Show all").click()
    expect(output).to_contain_text("output line 3999")
    expect(output.locator("a")).to_have_count(0)
    check_untroubled(desk)


def test_a_long_output_scrolls_in_its_place_by_keyboard_too(
    desk: Page, live_server: LiveServer, session: Session
) -> None:
    write(session, TOOLS)
    visit(desk, live_server, session)
    desk.get_by_role("button", name="Expand tools").click()
    long = desk.locator(".call .message--tool .output > div").first
    expect(long).to_have_attribute("tabindex", "0")
    assert long.evaluate("element => element.clientHeight") < 800
    expect(desk.locator(".call-arguments .output > div").first).not_to_have_attribute("tabindex", "0")
    long.focus()
    desk.keyboard.press("End")
    desk.wait_for_function("element => element.scrollTop > 0", arg=long.element_handle())


def test_the_choice_to_open_tools_is_remembered(desk: Page, live_server: LiveServer, session: Session) -> None:
    write(session, TOOLS)
    visit(desk, live_server, session)
    expect(desk.locator("details.call[open]")).to_have_count(0)
    desk.get_by_role("button", name="Expand tools").click()
    expect(desk.locator("details.call[open]")).to_have_count(2)
    desk.reload()
    expect(desk.locator("details.call[open]")).to_have_count(2)
    desk.get_by_role("button", name="Collapse tools").click()
    expect(desk.locator("details.call[open]")).to_have_count(0)


def test_a_permalink_marks_its_message_inside_the_opened_call(
    desk: Page, live_server: LiveServer, session: Session
) -> None:
    ids = write(session, [*users(60), *TOOLS])
    visit(desk, live_server, session, f"messages/{ids[63]}/")
    result = desk.locator(f"#{ids[63]}")
    expect(result).to_be_in_viewport()
    expect(result).to_have_class("message message--tool message--marked")
    check_untroubled(desk)


def test_a_message_gives_its_address(desk: Page, live_server: LiveServer, session: Session) -> None:
    ids = write(session, users(3))
    visit(desk, live_server, session)
    desk.get_by_role("link", name="Link to message 2").click()
    assert desk.url.endswith(f"?at={ids[1]}#{ids[1]}")
    expect(desk.locator(".message--marked")).to_have_attribute("id", ids[1])


def test_copying_gives_the_text_as_it_was_written(desk: Page, live_server: LiveServer, session: Session) -> None:
    ids = write(session, TOOLS)
    visit(desk, live_server, session)
    desk.locator(f"#{ids[1]}").get_by_role("button", name="Copy").click()
    expect(desk.locator(f"#{ids[1]}")).to_contain_text("Copied")
    assert desk.evaluate("navigator.clipboard.readText()") == TOOLS[1]["content"]
    check_untroubled(desk)


def test_later_messages_come_while_scrolling(desk: Page, live_server: LiveServer, session: Session) -> None:
    write(session, users(160))
    visit(desk, live_server, session)
    expect(desk.locator(".message")).to_have_count(50)
    for count in (100, 150, 160):
        desk.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)")
        expect(desk.locator(".message")).to_have_count(count)
    expect(desk.get_by_role("link", name="Later messages")).to_have_count(0)
    check_untroubled(desk)


def test_earlier_messages_leave_the_reader_where_they_are(
    desk: Page, live_server: LiveServer, session: Session
) -> None:
    ids = write(session, users(160))
    visit(desk, live_server, session, "?last=1#transcript-end")
    expect(desk.locator(f"#{ids[-1]}")).to_be_in_viewport()
    before = desk.locator(".message").count()
    desk.evaluate("window.scrollTo(0, 0)")
    expect(desk.locator(".message")).to_have_count(before + 50)
    expect(desk.locator(f"#{ids[160 - before]}")).to_be_in_viewport()
    check_untroubled(desk)


def test_printing_opens_every_call(desk: Page, live_server: LiveServer, session: Session) -> None:
    write(session, TOOLS)
    visit(desk, live_server, session)
    desk.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(desk.locator("details.call[open]")).to_have_count(2)
    desk.emulate_media(media="print")
    expect(desk.get_by_role("tree")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing(desk: Page, live_server: LiveServer, session: Session, scheme: str, width: int) -> None:
    write(session, [*TOOLS, *users(60)])
    desk.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    desk.set_viewport_size({"width": width, "height": 800})
    visit(desk, live_server, session)
    desk.get_by_role("button", name="Expand tools").click()
    desk.locator(".message-fields > summary").click()
    results = Axe().run(desk)
    assert results.violations_count == 0, results.generate_report()
    assert desk.evaluate("document.documentElement.scrollWidth") <= width
    check_untroubled(desk)
