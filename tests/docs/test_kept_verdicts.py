"""Pages show numbers of the kept verdicts by macros, and each number is called what it is."""

from __future__ import annotations

import json
import re

import pytest

from workbench.docs import PAGES, VERDICT
from workbench.docs import _sources as sources
from workbench.docs import kept_verdicts as room
from workbench.docs.kept_verdicts import KeptRun, case_line, count, estimate, is_former, kept_run, statistic_of

BY_HAND = ("choose.md", "verdict/index.md")
FIGURE = re.compile(
    r"\b(?:mean|median)\s+\d|\d[\d,.]*\s+(?:cycles|cases|times as|paired seeds|seeds)\b|\d+ of \d+|\d\.\d+ \["
)
"""A number that only a run can tell."""
FIRST = "uniform to 16, uniform run times, queued, drain_cycles"


def filled(name: str) -> str:
    file = PAGES / name
    return sources.page(name.removesuffix(".md"), file.read_text(encoding="utf-8"), file.parent).text


@pytest.mark.parametrize("name", BY_HAND)
def test_no_page_has_a_number_of_a_run_by_hand(name):
    """They printed means under the word median, and counts of other code."""
    text = (PAGES / name).read_text(encoding="utf-8")
    assert "{{" in text
    assert FIGURE.findall(re.sub(r"\{\{[^}]*\}\}", "", text)) == []


@pytest.mark.parametrize("name", BY_HAND)
def test_every_macro_is_filled(name):
    assert "{{" not in filled(name)


def test_each_number_is_called_what_the_data_say_that_it_is():
    """Version 0.4 judged the mean difference, as the note of each case says."""
    rows = json.loads((VERDICT / "verdict.json").read_text())
    (case,) = [one for row in rows for one in row["cases"] if row["id"] == "H1.1" and one["case"] == FIRST]
    assert "mean difference 13.39" in case["note"]
    assert "mean 13 [10, 17] cycles" in filled("verdict/index.md")
    assert "drain sooner by mean 13.39 cycles" in filled("choose.md") and "median 13" not in filled("choose.md")
    assert estimate("H3.1", "a channel a priority, wait_mean_cycles[1]") == "ratio of means 1.175"


@pytest.mark.parametrize(
    ("statistic", "unit", "text"),
    [
        ("geometric mean of ratios", "x", "1.058x [1.049, 1.067]"),
        ("mean", "cycles", "mean 1.058 [1.049, 1.067] cycles"),
        ("median", "", "median 1.058 [1.049, 1.067]"),
    ],
)
def test_a_case_of_the_next_full_run_names_its_own_statistic(monkeypatch, statistic, unit, text):
    figures = {"statistic": statistic, "unit": unit, "estimate": 1.058, "low": 1.049, "high": 1.067, "measure": "m"}
    case = {"case": "a", "part": "case", "side": "against", "statement": "so", "p_for": 1.0, "p_against": 0.004}
    row = {"id": "H1.1-pair", "cases": [{**case, **figures}]}
    monkeypatch.setattr(room, "kept_run", lambda: KeptRun({"H1.1-pair": row}, {}))
    assert case_line("H1.1", "a") == f"against  a: {text}, p = 0.004 (so)"
    assert statistic_of({"p": None, "measure": "gates", "note": "no test"}) == ""


def test_counts_are_those_of_the_data():
    row = kept_run().rows["H1.7"]
    assert count("H1.7", "for") == str(row["cases_for"]) and count("H1.7", "cases") == str(len(row["cases"]))
    with pytest.raises(KeyError, match=r"the kept run has no verdict on H9\.9"):
        count("H9.9", "for")
    with pytest.raises(KeyError, match=r"the kept run has 0 cases of H1\.1 called 'nowhere'"):
        estimate("H1.1", "nowhere")


def test_verdicts_of_another_question_or_test_are_marked():
    rows = kept_run().rows
    assert {id for id, row in rows.items() if row["family"] == "H2" and not is_former(row)} == {"H2.1", "H2.5", "H2.6"}
    assert is_former(rows["H2.8"]) and is_former(rows["H3.13b"])  # by construction now; part of H3.13
    assert "[H1.1‡](" in filled("choose.md") and "This is the verdict of version 0.4.0" in entry("H1.1")


def entry(id: str) -> str:
    from workbench.docs.reference.claims import claim_pages

    (text,) = [page.text for page in claim_pages() if page.path == "verdict/1-placement"]
    return text.partition(f"## {id}\n")[2].partition("## ")[0]
