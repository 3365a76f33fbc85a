"""A real Chromium, driven by Playwright; it goes with pytest-django's `live_server`."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)


def _executable() -> str:
    named = os.environ.get("NAMZU_CHROMIUM")
    found = named or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found and Path(found).exists():
        return found
    reason = f"NO BROWSER: {named or 'chromium'} is not installed; NAMZU_CHROMIUM names another one"
    if os.environ.get("NAMZU_REQUIRE_BROWSER") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    # Playwright keeps an event loop in this thread while it lives, and Django refuses queries below a running loop.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """The browser of this run."""
    running = playwright.chromium.launch(executable_path=_executable(), headless=True, args=_ARGUMENTS)
    yield running
    running.close()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A profile of its own: no cookies, no storage, 1280 × 800."""
    fresh = browser.new_context(viewport={"width": 1280, "height": 800}, reduced_motion="reduce")
    fresh.set_default_timeout(10_000)
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """An empty page."""
    return context.new_page()
