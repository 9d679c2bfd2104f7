"""The dashboard `pool` as a page of its own, served as `workbench dashboard pool` serves it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import free_port, running

CANVASES = 6
"""Histogram, memory by card, use, lending, where memory comes from, latency."""


def test_a_policy_moves_every_panel_and_the_pointer_finds_a_card(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
):
    port = free_port()
    command = ["workbench", "dashboard", "pool", f"--port={port}", "--no-browser"]
    with running(command, port, "/voila/static/favicon.ico", tmp_path_factory.mktemp("voila"), {}) as address:
        page = visit.page
        page.goto(address, timeout=240_000)
        board = Board(page, CANVASES)
        board.wait()
        expect(page.locator(".wb-result").first).to_contain_text("max_bandwidth against local_only: mean ")
        pictures = [board.picture(place) for place in range(1, CANVASES)]
        section = page.locator('.wb-levers:has(> .wb-section:has-text("Policies of the other"))')
        row = section.locator('.wb-row:has(.wb-label:text-is("target"))')
        row.locator("select").first.select_option(label="round robin")
        expect(page.locator(".wb-result").first).to_contain_text("round_robin against local_only: mean ")
        for place in (1, 2, 3, 5):
            board.wait_for_another(place, pictures[place - 1])
        box = page.locator("canvas.wb-canvas").nth(1).bounding_box()
        assert box is not None
        says = page.locator(".wb-says").first
        for step in range(40):  # gpu0 is full in one of these places
            page.mouse.move(box["x"] + 100 + 12 * step, box["y"] + 20 + 24 + 2.5 * 34)
            if "% own" in says.inner_text():
                break
        expect(says).to_contain_text(re.compile(r"Request [\d,]+: in use \(GiB\) .* gpu0: \d+ % own"))
        expect(board.mistake).to_have_count(0, timeout=1000 * MOVE_SECONDS)
        assert visit.outside == []
