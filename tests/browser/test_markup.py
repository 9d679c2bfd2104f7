"""Texts of a user's that are markup: a browser shows them letter by letter, wherever they get into a page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import workbench as wb
from tests.browser.board import MOVE_SECONDS, Board
from tests.browser.conftest import Visit
from tests.browser.server import served
from workbench.advice.resource_advice import Least, ResourceAdvice, ResourceTrial
from workbench.policies.whole_table import WholeTable

HOSTILE = "<img src=x onerror=\"document.title='overtaken'\">"

PARTS = f"""
from typing import Literal

import workbench as wb
from workbench.dashboards._shared_memory import shared_memory_dashboard
from workbench.levers import lever
from workbench.policies.placement.fit import FirstFit

MARK = {HOSTILE!r}


class Base(FirstFit):
    __doc__ = MARK + "."

    aim: float = lever(0.5, least=0.0, most=1.0, unit=MARK, description=MARK)
    kind: Literal[{HOSTILE!r}, "other"] = lever(MARK, description=MARK)


@wb.measure(unit=MARK, better="lower", description=MARK)
def longest(record):
    return record.length.max()


wb.add_measure("shared_memory", longest)
Named = type(MARK, (Base,), {{"__module__": __name__, "__doc__": MARK + "."}})


def hostile():
    page = shared_memory_dashboard()
    page.show({{**page.sidebar.setting(), "other": {{"placement": Named()}}}})
    return page


def failing():
    raise ValueError(MARK)


wb.add_dashboard("hostile", hostile)
wb.add_dashboard("failing", failing)
"""


def is_clean(page: Page) -> bool:
    """Whether nothing of the mark has become an element, or has run."""
    return page.locator("img[src=x]").count() == 0 and "overtaken" not in page.title().removeprefix(HOSTILE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text(PARTS)
    return tmp_path


@pytest.mark.slow
def test_names_units_and_descriptions_of_own_parts_are_letters_in_a_dashboard(folder: Path, visit: Visit):
    with served("mine.py:hostile", folder) as address:
        page, board = visit.page, Board(visit.page)
        page.goto(address, timeout=240_000)
        page.locator(".wb-table").wait_for(timeout=240_000)
        expect(page.locator(".wb-table th").nth(2)).to_have_text(HOSTILE)
        row = page.locator(f'.wb-table td[title="{HOSTILE.replace(chr(34), chr(92) + chr(34))}"]')
        expect(row).to_have_text(f"longest ({HOSTILE}) ↓")
        expect(page.locator(".wb-result").first).to_contain_text(HOSTILE)
        board.wait_for_all_runs()
        for heading in ("More than two", "Why this decision", "This dashboard as a sweep file"):
            page.get_by_text(heading).first.click()
        page.locator(".wb-why button").first.click()
        expect(page.locator(".wb-decision h4").last).to_have_text(HOSTILE, timeout=1000 * MOVE_SECONDS)
        assert page.locator("option", has_text=HOSTILE).count() >= 2
        page.evaluate("mark => { location.hash = encodeURIComponent(mark) + '=3'; }", HOSTILE)
        expect(board.mistake.first).to_contain_text(f"the link names {HOSTILE!r}", timeout=1000 * MOVE_SECONDS)
        assert is_clean(page)
    assert visit.outside == []


@pytest.mark.slow
def test_the_error_of_a_dashboard_of_ones_own_is_letters(folder: Path, visit: Visit):
    with served("mine.py:failing", folder) as address:
        visit.page.goto(address, timeout=240_000)
        visit.page.locator("#rendered_cells").get_by_text("error").first.wait_for(timeout=240_000)
        assert is_clean(visit.page)


@pytest.mark.slow
def test_what_a_notebook_shows_of_results_tables_and_advice_is_letters(visit: Visit):
    results = wb.run(
        {
            "engine": "shared_memory",
            "question": HOSTILE,
            "workload": "large_uniform",
            "policy": {"placement": {"vary": ["first_fit", "best_fit"]}},
            "baseline": {"placement": "first_fit"},
            "seeds": 2,
            "measures": ["drain_cycles"],
        }
    )
    trial = ResourceTrial("pool", 1, 1, 1)
    advice = ResourceAdvice(f"{HOSTILE}.csv", [trial], 1, Least(1, 1), 1, False)
    table = WholeTable({"name": [HOSTILE]})
    visit.page.set_content("<title>page</title>" + results._repr_html_() + advice._repr_html_() + table._repr_html_())
    visit.page.wait_for_timeout(100)
    assert visit.page.locator("body").inner_text().count(HOSTILE) == 3
    assert visit.page.title() == "page"
    assert is_clean(visit.page)
