"""A real browser: Chromium as Debian packs it, driven by Playwright. Every page keeps what left this host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from tests import needs
from tests.browser.board import MOVE_SECONDS
from tests.browser.first_screen import watch
from tests.needs import require

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
HERE = ("http://127.0.0.1:", "ws://127.0.0.1:", "data:", "blob:")


def chromium() -> str:
    """The browser's path; without one a test is skipped by name, and the last lines of the tests say so."""
    require("chromium")
    return str(needs.browser())


def pytest_collection_modifyitems(items):
    """What opens a page needs a browser, before it starts a server."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(needs.needs("chromium"))


expect.set_options(timeout=1000 * MOVE_SECONDS)


class Visit:
    """A page and what it asked of other hosts."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.outside: list[str] = []
        page.set_default_timeout(1000 * MOVE_SECONDS)
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if not request.url.startswith(HERE):
            self.outside.append(request.url)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for this room; while Playwright is open its event loop runs, which tests of others must not meet."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Visit]:
    with opened(browser) as page:
        yield page


@pytest.fixture(scope="module")
def lasting_visit(browser: Browser) -> Iterator[Visit]:
    """One page for all tests of a file that leave it as they came upon it."""
    with opened(browser) as page:
        yield page


@contextmanager
def opened(browser: Browser) -> Iterator[Visit]:
    context = browser.new_context(viewport={"width": 1400, "height": 1200})
    page = context.new_page()
    watch(page)
    yield Visit(page)
    context.close()
