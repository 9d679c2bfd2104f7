"""The dashboard `dispatch` as a page of its own, served as `workbench open dashboard dispatch` serves it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import yaml
from playwright.sync_api import expect

import workbench as wb
from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served

CANVASES = 5
"""Histogram, timeline, waiting, units, power."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served("dispatch", tmp_path_factory.mktemp("voila")) as result:
        yield result


def opened(address: str, visit: Visit) -> Board:
    visit.page.goto(address, timeout=240_000)
    displayed = Board(visit.page, CANVASES)
    displayed.wait()
    return displayed


@pytest.fixture
def board(address: str, visit: Visit) -> Board:
    return opened(address, visit)


@pytest.fixture(scope="module")
def lasting_board(address: str, lasting_visit: Visit) -> Board:
    """One page for two tests, of which the second alone turns something."""
    return opened(address, lasting_visit)


def ink(board: Board, place: int) -> int:
    """How many different colours a canvas shows."""
    count = """canvas => {
      const { width, height } = canvas, found = new Set();
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      for (let k = 0; k < data.length; k += 4)
        if (data[k + 3] === 255) found.add((data[k] << 16) | (data[k + 1] << 8) | data[k + 2]);
      return found.size;
    }"""
    return int(board.page.locator("canvas.wb-canvas").nth(place).evaluate(count))


@pytest.mark.slow
def test_the_pointer_finds_a_group_on_both_sides_and_the_state_can_be_copied(lasting_board: Board):
    board = lasting_board
    board.wait_for_all_runs()
    board.check_first_screen()
    says = board.hover_until(1, 120, "Group")  # one of these places is taken
    expect(says).to_contain_text(re.compile(r"Group [\d,]+: priority \d, module \d \(waves: \d+ on unit \d"))
    expect(says).to_contain_text("under strict_blocking")
    expect(says).to_contain_text("under served_marks")
    board.open_sweep()
    text = board.page.locator(".wb-board textarea")
    expect(text).to_have_value(re.compile("engine: dispatch"), timeout=1000 * MOVE_SECONDS)


@pytest.mark.slow
def test_a_slider_moves_every_panel_and_nothing_leaves_the_host(lasting_board: Board, lasting_visit: Visit):
    board = lasting_board
    expect(board.page.locator(".wb-result").first).to_contain_text("served_marks against strict_blocking: ")
    expect(board.mistake).to_have_count(0)
    assert all(ink(board, place) > 3 for place in range(CANVASES))
    before, pictures = board.cell("makespan").inner_text(), [board.picture(place) for place in range(CANVASES)]
    board.slide("compute units")
    for place, picture in enumerate(pictures):
        board.wait_for_another(place, picture)
    expect(board.cell("makespan")).not_to_have_text(before, timeout=1000 * MOVE_SECONDS)
    assert lasting_visit.outside == []


@pytest.mark.slow
def test_policies_of_one_side_and_their_levers(board: Board):
    board.pick_other("probe", "grouped run")
    expect(board.page.locator(".wb-result").first).to_contain_text("grouped_run, served_marks against exact_run")
    board.move_card("Z", "other", "number", "33")
    expect(board.mistake).to_contain_text("must", timeout=1000 * MOVE_SECONDS)
    expect(board.page.locator(".wb-board.wb-stale")).to_have_count(1)
    assert "Traceback" not in board.page.content()
    board.move_card("Z", "other", "number", "16")
    expect(board.mistake).to_have_count(0, timeout=1000 * MOVE_SECONDS)
    board.pick_other("selection", "as the baseline")
    expect(board.page.locator(".wb-result").first).to_contain_text("grouped_run(groups=16) against exact_run: ")


@pytest.mark.slow
def test_scores_of_a_sum_are_added_and_taken_out_and_sections_fold(board: Board):
    items = board.page.locator(".wb-item")
    board.page.locator('.wb-slot:has(> .wb-row .wb-label:text-is("choice")) > .wb-row .wb-out').click()
    choices = board.row("choices")
    before = items.count()
    choices.locator("button").click()
    expect(items).to_have_count(before + 1)
    expect(board.mistake).to_contain_text("weights must be 3", timeout=1000 * MOVE_SECONDS)
    items.nth(2).locator(".wb-out").last.click()
    expect(items).to_have_count(before)
    expect(board.mistake).to_have_count(0, timeout=1000 * MOVE_SECONDS)
    expect(board.row("channels")).to_be_hidden()
    board.unfold("Workload")
    expect(board.row("channels")).to_be_visible()


CARDS = (
    ("N", "both", "number", "160"),
    ("M", "both", "number", "28"),
    ("Z", "other", "number", "16"),
    ("k", "other", "chip", "5"),
    ("t", "other", "first", "300"),
    ("G", "other", "number", "16"),
    ("nx", "other", "number", "256"),
)
"""A card, whose side is moved, what is moved there, and what is typed."""


@pytest.mark.slow
def test_all_seven_levers_move_and_the_page_says_what_its_own_sweep_gives(board: Board):
    for letter, whose, what, value in CARDS:
        before = board.picture(0)
        if letter == "k":  # sampled from the groups of Z, which its card shows before another is typed into the last
            expect(board.card("k").locator(".wb-card-other .jupyter-widget-tag")).to_have_text(
                ["1", "2", "3", "4", "6", "8", "12", "16", ""]
            )
        board.turn_on(letter, whose)
        board.move_card(letter, whose, what, value)
        board.wait_for_another(0, before)
        expect(board.page.locator(".wb-mistake")).to_have_count(0)
    board.wait_for_all_runs()
    board.open_sweep()
    text = board.page.locator(".wb-board textarea").first
    expect(text).to_have_value(re.compile("nx: 256"), timeout=1000 * MOVE_SECONDS)
    sweep = yaml.safe_load(text.input_value())
    (_, probe) = sweep["policy"]["probe"]["vary"]
    assert probe["grouped_sampled_run"]["groups"] == 16
    assert probe["grouped_sampled_run"]["run_lengths"] == [1, 2, 3, 4, 5, 6, 8, 12, 16]
    results = wb.run(sweep)
    summary = results.summary()
    done = summary[(summary["measure"] == "groups_per_kilocycle") & summary["mean_difference"].notna()]
    headline = board.page.locator(".wb-result").first.inner_text()
    figures = re.search(r": ([\d.]+)x \[([\d.]+), ([\d.]+)\]; ", headline)
    assert figures is not None, headline
    (row,) = done[["size", "size_low", "size_high"]].to_numpy()
    assert row == pytest.approx([float(figure) for figure in figures.groups()], abs=0.006)


@pytest.mark.slow
def test_a_refusal_stands_in_the_card_that_was_moved_and_its_button_mends_it(board: Board):
    board.card("Z").locator(".wb-card-other").get_by_text("on", exact=True).click()
    board.wait_for_result("grouped_run")
    board.move_card("N", "both", "number", "112")
    refusal = board.card("N").locator(".wb-refusal")
    expect(refusal.locator(".wb-mistake")).to_have_text("Z = 32 must divide N = 112 (vgpr).")
    expect(refusal.locator("button")).to_have_text(["set N = 128", "set Z = 16"])
    refusal.get_by_text("set Z = 16").click()
    expect(board.page.locator(".wb-mistake")).to_have_count(0)
    board.wait_for_result("grouped_run(groups=16)")
