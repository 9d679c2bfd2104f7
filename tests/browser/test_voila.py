"""The dashboard as a page of its own, served as `workbench open dashboard` serves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.dom import minidom

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.conftest import opened as new_page
from tests.browser.server import served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served("shared_memory", tmp_path_factory.mktemp("voila")) as result:
        yield result


def opened(address: str, visit: Visit) -> Board:
    visit.page.goto(address, timeout=240_000)
    displayed = Board(visit.page)
    displayed.wait()
    return displayed


@pytest.fixture
def board(address: str, visit: Visit) -> Board:
    return opened(address, visit)


@pytest.fixture(scope="module")
def lasting_board(address: str, lasting_visit: Visit) -> Board:
    """One page for the tests that turn nothing."""
    return opened(address, lasting_visit)


@pytest.fixture(scope="module")
def turned_board(address: str, browser: Browser) -> Iterator[Board]:
    """One page for two tests that turn it, the second whatever the first left: a page costs a kernel of its own."""
    with new_page(browser) as visit:
        yield opened(address, visit)


def test_every_panel_appears_and_nothing_leaves_the_host(lasting_board: Board, lasting_visit: Visit):
    board = lasting_board
    assert board.page.locator(".wb-sidebar select").count() >= 10
    assert board.page.locator(".wb-sidebar .noUi-handle").count() >= 8
    expect(board.page.locator(".wb-result")).to_contain_text("nearest_boundary against first_fit: ")
    expect(board.mistake).to_have_count(0)
    expect(board.page.locator(".wb-headline")).to_have_text(re.compile(r"^1\.\d+x faster, sure$"))
    board.check_first_screen()
    assert lasting_visit.outside == []


def test_the_address_is_the_setting_and_a_reload_loses_nothing(board: Board):
    before = board.cell("drain").inner_text()
    board.type("count (workgroups)", "120")
    board.page.wait_for_function("() => location.hash.includes('count=120')", timeout=1000 * MOVE_SECONDS)
    expect(board.cell("drain")).not_to_have_text(before, timeout=1000 * MOVE_SECONDS)
    board.wait_for_all_runs()
    drain = board.cell("drain").inner_text()
    board.page.reload(timeout=240_000)
    board.wait()
    expect(board.row("count (workgroups)").locator("input").last).to_have_value("120", timeout=1000 * MOVE_SECONDS)
    expect(board.cell("drain")).to_have_text(drain, timeout=1000 * MOVE_SECONDS)
    board.page.get_by_role("button", name="undo").click()
    board.page.wait_for_function("() => location.hash === ''", timeout=1000 * MOVE_SECONDS)
    expect(board.cell("drain")).not_to_have_text(drain, timeout=1000 * MOVE_SECONDS)
    assert board.page.locator(".wb-wrong").count() == 0


def test_a_picture_is_saved_as_a_drawing_and_as_numbers(lasting_board: Board, tmp_path):
    saves = lasting_board.page.locator(".wb-saves").first
    for kind, begins in (("SVG", b"<svg"), ("PDF", b"%PDF-1.4"), ("CSV", b"name,place,value")):
        with lasting_board.page.expect_download() as download:
            saves.get_by_role("button", name=kind).click(force=True)
        download.value.save_as(tmp_path / kind)
        assert (tmp_path / kind).read_bytes().startswith(begins)
    minidom.parse(str(tmp_path / "SVG"))


def test_a_search_unfolds_what_it_names(lasting_board: Board):
    expect(lasting_board.row("latency cycles")).to_be_hidden()
    box = lasting_board.page.locator(".wb-search input")
    box.fill("latency")
    expect(lasting_board.row("latency cycles")).to_be_visible(timeout=1000 * MOVE_SECONDS)
    expect(lasting_board.row("queue")).to_be_hidden()
    box.fill("")
    expect(lasting_board.row("latency cycles")).to_be_hidden(timeout=1000 * MOVE_SECONDS)


def test_a_bad_choice_is_a_sentence_and_the_board_recovers(turned_board: Board):
    board = turned_board
    board.type("high (segments)", "200")
    expect(board.mistake).to_contain_text("must draw at most 128 segments", timeout=1000 * MOVE_SECONDS)
    expect(board.mistake).to_contain_text("Nearest: uniform.high = 128.")
    expect(board.page.locator(".wb-board.wb-stale")).to_have_count(1)
    expect(board.page.locator(".wb-wrong").first).to_contain_text("high (segments)")
    assert "Traceback" not in board.page.content()
    before = board.picture(1)
    board.type("high (segments)", "48")
    expect(board.mistake).to_have_count(0, timeout=1000 * MOVE_SECONDS)
    expect(board.page.locator(".wb-board.wb-stale")).to_have_count(0)
    board.wait_for_another(1, before)


def test_a_slider_moves_every_panel(turned_board: Board):
    board = turned_board
    board.wait_for_all_runs()
    before = board.cell("drain").inner_text()
    pictures = [board.picture(place) for place in (0, 1)]
    board.slide("segments")
    for place, picture in enumerate(pictures):
        board.wait_for_another(place, picture)
    expect(board.cell("drain")).not_to_have_text(before, timeout=1000 * MOVE_SECONDS)
    expect(board.row("segments").locator("input").last).not_to_have_value("128")


def test_what_takes_long_is_coarse_first_and_then_complete(board: Board):
    board.type("count (workgroups)", "200000")
    expect(board.status).to_contain_text(re.compile(r"\d+ of 20 paired runs"), timeout=1000 * MOVE_SECONDS)
    expect(board.status).to_have_text("20 paired runs.", timeout=120_000)


def test_a_choice_brings_its_own_levers(board: Board):
    assert board.page.locator('.wb-label:text-is("k (workgroups)")').count() == 0
    board.unfold("Engine")
    board.pick("queue", "fifo lookahead")
    expect(board.row("k (workgroups)")).to_be_visible(timeout=1000 * MOVE_SECONDS)
    board.pick_other("placement", "size segregated ends")
    expect(board.page.locator(".wb-result")).to_contain_text("size_segregated_ends", timeout=1000 * MOVE_SECONDS)
    expect(board.row("threshold (segments)")).to_be_visible()


def test_a_preset_sets_the_segments(board: Board):
    board.row("preset").locator("select").select_option(index=2)
    expect(board.page.locator(".wb-note")).not_to_contain_text("128 segments of 512 B", timeout=1000 * MOVE_SECONDS)
    expect(board.mistake).to_have_count(0)


def test_the_pointer_finds_a_workgroup_under_both_policies(lasting_board: Board):
    box = lasting_board.page.locator("canvas.wb-canvas").nth(1).bounding_box()
    assert box is not None
    says = lasting_board.page.locator(".wb-says")
    expect(says).to_contain_text("Rest the pointer")
    for step in range(12):  # one of these places is taken
        lasting_board.page.mouse.move(box["x"] + 100 + 30 * step, box["y"] + 150)
        if "Workgroup" in says.inner_text():
            break
    expect(says).to_contain_text("under first_fit")
    expect(says).to_contain_text("under nearest_boundary")


def test_dragging_zooms_and_a_double_click_shows_all(board: Board):
    canvas = board.page.locator("canvas.wb-canvas").nth(1)
    box = canvas.bounding_box()
    assert box is not None
    whole = board.picture(1)
    board.page.mouse.move(box["x"] + 200, box["y"] + 60)
    board.page.mouse.down()
    board.page.mouse.move(box["x"] + 400, box["y"] + 60)
    board.page.mouse.up()
    board.page.mouse.move(5, 5)
    board.wait_for_another(1, whole)
    part = board.picture(1)
    canvas.dblclick(position={"x": 300, "y": 60})
    board.page.mouse.move(5, 5)
    board.wait_for_another(1, part)
    board.page.wait_for_timeout(200)
    assert board.picture(1) == whole


def test_the_state_can_be_copied_as_a_sweep(lasting_board: Board):
    lasting_board.open_sweep()
    text = lasting_board.page.locator(".wb-board textarea")
    expect(text).to_have_value(re.compile("engine: shared_memory"), timeout=1000 * MOVE_SECONDS)
