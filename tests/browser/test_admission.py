"""Who may open a dashboard, and when its kernel begins: over plain HTTP, and in a browser."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.client import HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.board import FIRST_SECONDS, Board
from tests.browser.conftest import Visit, opened
from tests.browser.server import TOKEN, served
from tests.browser.test_kernel import kernels
from tests.waiting import wait_until
from workbench.dashboards.admission import CLOSED
from workbench.dashboards.page_access import TICKET_SECONDS, Pages, server_full_message

pytestmark = pytest.mark.slow

KERNEL = "/api/kernels/12345678-1234-1234-1234-123456789012"
UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw==",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the server runs, with a configuration that would switch tokens off, and that ends kernels early."""
    made = tmp_path_factory.mktemp("voila")
    off = {"Voila": {"token": "", "auto_token": False}, "IdentityProvider": {"token": ""}}
    early = {"PageKernels": {"cull_idle_timeout": 20, "cull_interval": 1}}  # a page on a busy machine connects before
    (made / "voila.json").write_text(json.dumps({**off, **early}))
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    own = {"WORKBENCH_TEST_FOLDER": str(folder)}
    with served("shared_memory", folder, own, ["--pages=1"]) as result:
        yield result


def asked(address: str, path: str, headers: dict[str, str] | None = None) -> tuple[int, str, HTTPResponse]:
    """What the server answers to a request for a path: status, text, and the whole reply."""
    parts = urlsplit(address)
    request = urllib.request.Request(f"{parts.scheme}://{parts.netloc}{path}", headers=headers or {})
    try:
        reply = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as refusal:
        reply = refusal
    return reply.status, reply.read().decode(errors="replace"), reply


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/?token=", {}),
        ("/?token=wrong", {}),
        ("/?token=a+test%27s", {}),
        ("/", {"Authorization": "token wrong"}),
        ("/", {"Cookie": "username-127-0-0-1=anybody; _xsrf=1"}),
        ("/voila/static/favicon.ico", {}),
        ("/voila/templates/offline/static/voila.js", {}),
        ("/voila/labextensions/x.js", {}),
        ("/voila/files/shared_memory.ipynb", {}),
        ("/voila/api/themes/x", {}),
        ("/login", {}),
        (KERNEL, {}),
        (f"{KERNEL}/channels", UPGRADE),
    ],
)
def test_without_the_token_nothing_is_answered_but_one_sentence(address, path, headers):
    status, text, _ = asked(address, path, headers)
    assert (status, text.count("<p")) == (403, 1)
    assert CLOSED in text
    assert "Traceback" not in text


def test_the_token_gives_a_cookie_that_scripts_and_other_sites_do_not_get(address):
    parts = urlsplit(address)
    status, _, reply = asked(address, f"/?{parts.query}")
    (cookie,) = (line for line in reply.headers.get_all("Set-Cookie") if line.startswith("username-"))
    assert status == 200
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert TOKEN not in cookie
    own = {"Cookie": cookie.partition(";")[0]}
    assert asked(address, "/voila/static/favicon.ico", own)[0] == 200
    name, _, value = own["Cookie"].partition("=")
    assert asked(address, "/voila/static/favicon.ico", {"Cookie": f"{name}={value[:-1]}x"})[0] == 403
    assert asked(address, "/voila/static/favicon.ico", {"Authorization": f"token {TOKEN}"})[0] == 200
    assert asked(address, f"{KERNEL}/channels", {**own, **UPGRADE})[0] == 404


def test_no_kernel_begins_before_a_page_has_run_its_script(address, folder, visit: Visit, browser: Browser):
    """Eighty connections that are given up, then a page; then a second one, for which there is no place."""
    parts = urlsplit(address)
    for _ in range(80):
        with socket.create_connection((parts.hostname, parts.port)) as line:
            line.sendall(f"GET /?{parts.query} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
    assert asked(address, f"/?{parts.query}&page=invented")[0] == 200
    assert kernels(str(folder)) == set()

    page = visit.page
    page.goto(address, timeout=240_000)
    Board(page).wait()
    assert page.evaluate("location.pathname + location.search") == "/"
    assert len(kernels(str(folder))) == 1
    with opened(browser) as other:
        other.page.goto(address)
        words = other.page.locator("#words")
        expect(words).to_have_text(server_full_message(1))
        assert len(kernels(str(folder))) == 1
        page.goto("about:blank")  # the page says so as it is left
        other.page.get_by_role("button", name="Open it again").click()
        Board(other.page).wait()
    wait_until(lambda: kernels(str(folder)) == set(), FIRST_SECONDS, "the end of a kernel whose page has gone")


def test_the_kernel_of_a_page_that_is_left_while_it_opens_is_ended(address, folder, visit: Visit):
    wait_until(lambda: kernels(str(folder)) == set(), FIRST_SECONDS, "the end of the kernels before")
    visit.page.goto(address)
    wait_until(lambda: kernels(str(folder)), FIRST_SECONDS, "a kernel")
    visit.page.goto("about:blank")
    wait_until(lambda: kernels(str(folder)) == set(), FIRST_SECONDS, "the end of the kernel")


def test_tickets_are_used_once_and_run_out():
    clock, alive = [0.0], {"a", "b"}
    pages = Pages(2, alive.__contains__, lambda: clock[0])
    first, second = pages.admit(), pages.admit()
    assert first and second
    assert (len(pages), pages.admit()) == (2, None)
    assert [pages.begin(ticket) for ticket in (first, first, "invented", "")] == [True, False, False, False]
    clock[0] = TICKET_SECONDS
    assert (len(pages), pages.begin(second)) == (1, False)
    pages.attach(first, "a")
    third = pages.admit()
    assert third
    assert pages.begin(third)
    pages.discard(third)
    assert (len(pages), pages.kernel_of(first)) == (1, "a")
    alive.discard("a")
    assert len(pages) == 0
