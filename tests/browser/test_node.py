"""The dashboard `node` as a page of its own, served as `workbench open dashboard node` serves it."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served

CANVASES = 4
"""Histogram, parts of the time, times, throughput."""
COMPILED_SECONDS = 900
"""Until the first picture where nobody has run a node: it compiles longer than any engine."""


@pytest.mark.slow
def test_cards_and_a_coupling_move_the_panels_and_nothing_leaves_the_host(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
):
    with served("node", tmp_path_factory.mktemp("voila")) as address:
        visit.page.goto(address, timeout=240_000)
        board = Board(visit.page, CANVASES)
        board.wait(COMPILED_SECONDS)
        expect(board.mistake).to_have_count(0)
        result = board.page.locator(".wb-result").first
        expect(result).to_contain_text("policies of the documents against usual policies: ")
        board.check_first_screen()
        makespan, pictures = board.cell("makespan"), [board.picture(place) for place in range(CANVASES)]
        before = makespan.inner_text()
        board.type("modules", "1")
        for place in (1, 2, 3):
            board.wait_for_another(place, pictures[place])
        expect(makespan).not_to_have_text(before, timeout=1000 * MOVE_SECONDS)
        parts = board.picture(1)
        board.pick("remote", "local")
        board.wait_for_another(1, parts)
        expect(board.mistake).to_have_count(0)
        assert visit.outside == []
