"""The dashboard `malloc` as a page of its own, served as `workbench open dashboard malloc` serves it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served

CANVASES = 4
"""Histogram, who waits, what is held, latency."""


@pytest.mark.slow
def test_a_lock_and_a_policy_move_the_panels_and_nothing_leaves_the_host(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
):
    with served("malloc", tmp_path_factory.mktemp("voila")) as address:
        visit.page.goto(address, timeout=240_000)
        board = Board(visit.page, CANVASES)
        board.wait()
        result = board.page.locator(".wb-result").first
        expect(result).to_contain_text("warp_aggregated against per_thread: ")
        expect(board.mistake).to_have_count(0)
        board.check_first_screen()
        makespan, pictures = board.cell("makespan"), [board.picture(place) for place in range(CANVASES)]
        slow = number(makespan.inner_text())
        board.type("hold cycles", "200")
        for place in (0, 1, 2, 3):
            board.wait_for_another(place, pictures[place])
        expect(makespan).not_to_have_text(f"{slow:,.0f}", timeout=1000 * MOVE_SECONDS)
        assert number(makespan.inner_text()) == pytest.approx(slow / 2, rel=0.05), "the lock is all that one waits for"
        board.pick_other("serve", "per thread")
        board.pick_other("heap", "size classes")
        expect(result).to_contain_text(re.compile(r"size_classes.* against bitmap_arena"), timeout=1000 * MOVE_SECONDS)
        assert visit.outside == []


def number(text: str) -> float:
    return float(text.replace(",", ""))
