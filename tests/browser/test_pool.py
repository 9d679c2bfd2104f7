"""The dashboard `pool` as a page of its own: policies, a board by levers, and a snapshot dropped into it."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.board import FIRST_SECONDS, MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served
from tests.recorded_snapshots import Recorder

CANVASES = 6
"""Histogram, memory by card, use, lending, where memory comes from, latency."""


@pytest.mark.slow
def test_a_policy_moves_every_panel_and_the_pointer_finds_a_card(
    tmp_path_factory: pytest.TempPathFactory, visit: Visit
):
    with served("pool", tmp_path_factory.mktemp("voila")) as address:
        page = visit.page
        page.goto(address, timeout=240_000)
        board = Board(page, CANVASES)
        board.wait()
        board.wait_for_all_runs()  # the same seeds before and after
        board.wait_for_result("max_bandwidth against local_only: ")
        pictures = [board.picture(place) for place in range(1, CANVASES)]
        board.pick_other("target", "round robin")
        board.wait_for_result("round_robin against local_only: ")
        for place in (1, 2, 3):  # either policy saves the same latency
            board.wait_for_another(place, pictures[place - 1])
        board.wait_for_all_runs()  # no picture changes under the pointer
        board.check_first_screen()
        says = board.hover_until(1, 20 + 24 + 2.5 * 34, "% own")  # gpu0 is full in one of these places
        expect(says).to_contain_text(re.compile(r"Request [\d,]+: in use \(GiB\) .* gpu0: \d+ % own"))
        expect(board.mistake).to_have_count(0, timeout=1000 * MOVE_SECONDS)
        on_a_ring_of_its_own(board)
        with_a_snapshot_of_its_own(board, tmp_path_factory.mktemp("own") / "own.pickle")
        expect(board.mistake).to_have_count(0)
        assert visit.outside == []


def on_a_ring_of_its_own(board: Board) -> None:
    """Another board, by levers alone: other cards in every panel."""
    before = [board.picture(place) for place in range(1, CANVASES)]
    board.unfold("Machine")
    board.pick("preset", "a board by a rule")
    board.pick("arrangement", "ring")
    board.type("gpus", "3")
    note = board.page.locator(".wb-note:has-text('GPUs')").first
    expect(note).to_have_text("3 GPUs and 1 CPU, 112 GiB in all; direct links of 16 to 150 GB/s")
    for place in (1, 2, 3):
        board.wait_for_another(place, before[place - 1])


def through_its_history(board: Board) -> None:
    """The slider goes through the moments by the keyboard; the map follows, and a block says what it is."""
    page = board.page
    said = page.locator(".wb-advice p:has-text('After event')")
    expect(said).to_have_text(re.compile(r"After event 60 of 61 .* 30 GiB reserved in 30 segments"))
    canvas = page.locator("canvas[aria-label^='map of segments']")
    picture = canvas.evaluate("canvas => canvas.toDataURL()")
    page.locator(".widget-hslider:has-text('after event') .noUi-handle").focus()
    page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("After event 59 of 61")
    page.keyboard.press("ArrowLeft")
    expect(said).to_contain_text("29 GiB reserved in 29 segments")
    page.wait_for_function(
        "([canvas, before]) => canvas.toDataURL() !== before", arg=[canvas.element_handle(), picture]
    )
    canvas.hover()
    expect(page.locator(".wb-stack")).to_contain_text("Block of 1 GiB, in a segment of 1 GiB: in use, allocated")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".wb-stack")).to_contain_text("No stack was recorded.")


def with_a_snapshot_of_its_own(board: Board, place: Path) -> None:
    """A file dropped into the page is one run on either side; what is too large is refused without being sent."""
    made = Recorder()
    for _ in range(30):
        made.alloc(0, 1 << 30)
    place.write_bytes(pickle.dumps(made.snapshot()) + bytes(3 << 20))  # in several pieces; a pickle may have a tail
    board.page.locator(".wb-drop input").set_input_files(place)
    expect(board.page.locator(".wb-drop")).to_contain_text("own.pickle: 3.0", timeout=1000 * MOVE_SECONDS)
    expect(board.status).to_have_text("1 paired runs.", timeout=1000 * MOVE_SECONDS)
    board.wait_for_result("round_robin against local_only: 0.4667 more; better, exact: nothing is drawn.")
    answer = board.page.locator(".wb-answer .answer")
    expect(answer).to_contain_text("GPU 0 did not run out of memory", timeout=1000 * FIRST_SECONDS)
    curve, title = board.page.locator(".wb-first canvas").first, board.page.locator(".wb-heading h2")
    tops = [place.bounding_box()["y"] for place in (answer, curve, title)]
    assert tops == sorted(tops) and tops[0] < 200, "the answer, the curve, and only then the policies"
    through_its_history(board)
    with place.open("r+b") as file:
        file.truncate((256 << 20) + 1)
    board.page.locator(".wb-drop input").set_input_files(place)
    expect(board.page.locator(".wb-drop")).to_contain_text("own.pickle must have at most 256 MiB. Got 256 MiB.")
