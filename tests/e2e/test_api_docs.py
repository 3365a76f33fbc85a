"""The API's interactive description in a real browser."""

import pytest
from playwright.sync_api import Page, Route, expect
from pytest_django.live_server_helper import LiveServer

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_description_needs_nobody_else_and_nothing_inline(page: Page, live_server: LiveServer) -> None:
    complaints: list[str] = []
    elsewhere: list[str] = []

    def let_through(route: Route) -> None:
        if route.request.url.startswith((live_server.url, "data:", "blob:")):
            route.continue_()
        else:
            elsewhere.append(route.request.url)
            route.abort()

    page.route("**/*", let_through)
    page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(f"{live_server.url}/api/v1/docs")
    expect(page.get_by_text("Append messages")).to_be_visible()
    page.get_by_text("Create a sub-session").click()
    expect(page.get_by_text("delegation_capacity_exceeded").first).to_be_visible()
    assert (complaints, elsewhere) == ([], [])
