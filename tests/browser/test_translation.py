"""The dashboard `translation` as a page of its own, served as `workbench open dashboard translation` serves it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served

CANVASES = 5
"""Histogram, who serves, latency, network, sharing."""


@pytest.mark.slow
def test_a_slider_and_a_policy_move_the_panels_and_nothing_leaves_the_host(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
):
    with served("translation", tmp_path_factory.mktemp("voila")) as address:
        visit.page.goto(address, timeout=240_000)
        board = Board(visit.page, CANVASES)
        board.wait()
        expect(board.page.locator(".wb-result").first).to_contain_text("directory against no_directory: ")
        expect(board.mistake).to_have_count(0)
        board.check_first_screen()
        before, pictures = board.cell("latency mean").inner_text(), [board.picture(k) for k in range(CANVASES)]
        board.slide("cores")
        for place, picture in enumerate(pictures):
            board.wait_for_another(place, picture)
        expect(board.cell("latency mean")).not_to_have_text(before, timeout=1000 * MOVE_SECONDS)
        board.pick_other("eviction", "mru")
        expect(board.page.locator(".wb-result").first).to_contain_text("directory, mru against no_directory, lru")
        board.open_sweep()
        text = board.page.locator(".wb-board textarea")
        expect(text).to_have_value(re.compile("engine: translation"), timeout=1000 * MOVE_SECONDS)
        assert visit.outside == []
