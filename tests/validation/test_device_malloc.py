"""The survey of device allocators: its files, a planted fit, and what is judged."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from tests.junk import refusal
from workbench.validation.device_malloc import (
    BEYOND,
    DRAWN,
    FITTED,
    SETS,
    fit_design,
    judge,
    levers_of_design,
    of_survey,
    straight_line,
)
from workbench.validation.malloc_runs import allocation_ms, card_of, share_given
from workbench.validation.malloc_survey import THREADS, extract
from workbench.validation.validate import facts_of, levers_of

(SURVEY,) = SETS
TITAN = card_of("TITANV")
SOME = tuple(n for n in THREADS if n <= 16_384)


def world(design: str, levers: dict[str, int], scale: float = 1.0) -> pd.DataFrame:
    """Facts that a design with some levers makes itself."""
    chosen = levers_of_design(design, levers, {})
    times = [scale * allocation_ms(of_survey(design), chosen, TITAN, 16, n) for n in SOME]
    rows = [("TITANV", "scaling", design, 16, n, time) for n, time in zip(SOME, times, strict=True)]
    return pd.DataFrame(rows, columns=["card", "measure", "design", "bytes", "threads", "value"])


def test_files_of_a_card_become_facts(tmp_path):
    folder = tmp_path / "results" / "TITANV"
    folder.mkdir(parents=True)
    (folder / "scale_alloc_Halloc_16_1-1048576.csv").write_text(
        "NumThreads, mean, median\n1, 9, 0.005\n2, 9, 0\n3, 9, 1\n"
    )
    (folder / "perf_alloc_Halloc_10000_4-8192.csv").write_text("AllocationSize (in Byte), mean, median\n16, 9, 0.5\n")
    (folder / "warp_perf_alloc_Halloc_10000_4-8192.csv").write_text("AllocationSize (in Byte), median\n16, 2.0\n")
    (folder / "2020-07-24_oom_100000_4-8192.csv").write_text("Bytes,4,16\nBaseLine,100,100\nHalloc,18.5,nan\n")
    facts = extract(sorted(folder.iterdir()))
    assert facts.to_numpy().tolist() == [
        ["TITANV", "aggregation", "Halloc", 16, 10_000, 4.0],
        ["TITANV", "full", "Halloc", 4, 0, 18.5],
        ["TITANV", "scaling", "Halloc", 16, 1, 0.005],
    ]


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("scale_alloc_CUDA_16_1-1048576.csv", "threads;ms\n", "must begin with a line of the columns NumThreads"),
        ("scale_alloc_CUDA_16_1-1048576.csv", "NumThreads, median\nmany, 3\n", "must have a row with a median"),
        ("2020_oom_100000_4-8192.csv", "Size\n", "must begin with a line of the column Bytes"),
    ],
)
def test_a_broken_file_is_one_sentence(tmp_path, name, text, says):
    folder = tmp_path / "results" / "TITANV"
    folder.mkdir(parents=True)
    (folder / name).write_text(text)
    assert says in refusal(extract, [folder / name])


def test_a_card_that_is_not_known_is_named(tmp_path):
    file = tmp_path / "scale_alloc_CUDA_16_1-1048576.csv"
    file.write_text("NumThreads, median\n1, 3\n")
    assert "must be a folder of a card (TITANV, 2080Ti)" in refusal(extract, [file])


def test_a_planted_section_is_found():
    planted = {"launch_cycles": 5000, "section_cycles": 700}
    fitted = fit_design("RegEff-C", world("RegEff-C", planted), {})
    assert fitted["section_cycles"] == pytest.approx(700, rel=0.05)
    assert fitted["launch_cycles"] == pytest.approx(5000, rel=0.05)


def test_a_planted_world_is_confirmed_and_another_is_refuted():
    planted = {"launch_cycles": 5000, "section_cycles": 700}
    (_, same), (_, other) = (judge(world("RegEff-C", planted, scale), {"RegEff-C": planted}) for scale in (1.0, 2.0))
    assert (same.verdict, other.verdict) == ("confirmed", "refuted")
    assert same.points == len([n for n in SOME if n in BEYOND]) and other.error == pytest.approx(50)


def test_the_rival_is_a_line_through_the_fitted_points():
    line = 3.0 + 0.25 * np.array(THREADS)
    assert straight_line(np.where(np.isin(THREADS, FITTED), line, 1e9)) == pytest.approx(line)


@pytest.mark.parametrize("design", ["RegEff-A", "Halloc"])
def test_kept_levers_are_those_of_the_fit(design):
    facts, levers = facts_of(SURVEY), levers_of(SURVEY)
    rows = facts[(facts["measure"] == "scaling") & (facts["design"] == design)]
    assert fit_design(design, rows, levers["CUDA"]) == levers[design]


def test_ouroboros_gives_out_its_heap():
    assert share_given(of_survey("Ouroboros-C-S"), TITAN, 64, 1 << 10) > 0.97
    assert share_given(of_survey("Ouroboros-C-S"), TITAN, 4, 1 << 10) == pytest.approx(0.25, abs=0.01)


def test_what_is_drawn_was_measured():
    facts = facts_of(SURVEY)
    assert {(16, name) for name in DRAWN} <= {*zip(facts["bytes"], facts["design"], strict=True)}
