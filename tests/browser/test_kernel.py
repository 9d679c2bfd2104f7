"""A page whose kernel is killed says so; another page of the same server goes on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit, opened
from tests.browser.server import served


def kernels(mark: str) -> set[int]:
    """The processes of notebooks whose environment has a mark."""
    return {int(place.name) for place in Path("/proc").glob("[0-9]*") if is_kernel(place, mark)}


def is_kernel(place: Path, mark: str) -> bool:
    try:
        return mark.encode() in (place / "environ").read_bytes() and b"ipykernel" in (place / "cmdline").read_bytes()
    except OSError:  # it has ended meanwhile, or is another user's
        return False


def dashboard(address: str, visit: Visit) -> Board:
    visit.page.goto(address, timeout=240_000)
    board = Board(visit.page)
    board.wait()
    return board


@pytest.mark.slow
def test_a_killed_kernel_is_a_sentence_and_another_page_goes_on(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit, browser: Browser
):
    folder = tmp_path_factory.mktemp("voila")
    own = {"WORKBENCH_TEST_FOLDER": str(folder)}
    with served("shared_memory", folder, own) as address, opened(browser) as other:
        board = dashboard(address, visit)
        (first,) = kernels(str(folder))
        second = dashboard(address, other)
        os.kill(first, signal.SIGKILL)
        silent = board.page.locator(".wb-silent")
        expect(silent).to_contain_text("No sign of the kernel for", timeout=1000 * MOVE_SECONDS)
        expect(silent).to_contain_text("Reload the page to begin anew; its address keeps the setting.")
        before = second.picture(1)
        second.slide("segments")
        second.wait_for_another(1, before)
        expect(second.page.locator(".wb-silent")).to_have_count(0)
        board.page.reload(timeout=240_000)
        board.wait()
        expect(silent).to_have_count(0)
