"""A tuning study as a page, served as `workbench open dashboard FOLDER` serves it, while somebody tunes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served
from tests.tuning.small import small
from workbench.experiments.results_folder import held
from workbench.tuning.storages import JOURNAL

CANVASES = 4
"""The front, the study, the histogram, the memory over time."""


@pytest.mark.slow
def test_a_study_is_followed_while_it_is_tuned_and_a_point_of_its_front_is_loaded(tmp_path: Path, visit: Visit):
    done = wb.tune(small(), tmp_path / "done")
    folder = tmp_path / "tuned"
    folder.mkdir()
    for name in ("study.yaml", "study.json"):
        (folder / name).write_bytes((done.folder / name).read_bytes())
    journal = (done.folder / JOURNAL).read_bytes().splitlines(keepends=True)
    (folder / JOURNAL).write_bytes(b"".join(journal[: 3 * len(journal) // 4]))
    with held(folder), served(str(folder), tmp_path) as address:
        visit.page.goto(address, timeout=240_000)
        board = Board(visit.page, CANVASES)
        board.wait()
        progress = board.page.locator(".wb-study .wb-fine").first
        expect(progress).to_contain_text("it is tuned just now")
        expect(progress).not_to_contain_text("20 of 20 trials")
        (folder / JOURNAL).write_bytes(b"".join(journal))
        expect(progress).to_contain_text("20 of 20 trials", timeout=1000 * MOVE_SECONDS)
        opened = board.page.locator(".wb-opened select")
        words = board.page.locator(".wb-result").first.inner_text()
        opened.select_option(index=1)
        expect(board.page.locator(".wb-result").first).not_to_have_text(words, timeout=1000 * MOVE_SECONDS)
        expect(board.mistake).to_have_count(0)
    assert visit.outside == []


HOSTILE = "<img src=x onerror=\"document.title='overtaken'\">"


@pytest.mark.slow
def test_a_file_whose_name_is_markup_is_shown_letter_by_letter(tmp_path: Path, visit: Visit):
    file = tmp_path / f"{HOSTILE}.yaml"
    file.write_text(
        "engine: shared_memory\nworkload: large_uniform\npolicy: {placement: {vary: [first_fit, best_fit]}}\n"
        "baseline: {placement: first_fit}\nseeds: 3\nmeasures: [drain_cycles]\n"
    )
    with served(file.name, tmp_path) as address:
        visit.page.goto(address, timeout=240_000)
        expect(visit.page.locator(".wb-opened b")).to_have_text(f"Opened: {file.name}.", timeout=240_000)
        visit.page.locator("button:has-text('save')").first.wait_for(state="attached")
        assert visit.page.locator("img[src=x]").count() == 0
        assert visit.page.title() == f"{file.name} dashboard"
    assert visit.outside == []
