"""A policy under which a run hangs is the worst, and tables say how many groups never start (spec 7, R18)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.claims.cases import no_worse
from workbench.statistics.comparisons import by_seed
from workbench.statistics.sentences import blocks

HEADER = "arrival,channel,priority,waves,independent,duration,vgpr_blocks,sgpr_blocks,shared_segments,barrier"
SMALL_AND_LARGE = [(1, 0), (1, 0), (2, 0), (2, 0), (2, 0)]
"""Waves and barrier of each group of the vector V1."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = [f"0,0,1,{waves},0,10,0,0,0,{barrier}" for waves, barrier in SMALL_AND_LARGE]
    path = tmp_path / "groups.csv"
    path.write_text("\n".join([HEADER, *rows, ""]))
    return path


def compared(file: Path, choices: list[str], seeds: int = 1, **more: Any) -> wb.Results:
    return wb.run(
        {
            "engine": "dispatch",
            "machine": {"compute_units": 4, "simds_a_unit": 1, "waves_a_unit": 2},
            "workload": {"file": str(file)},
            "policy": {"choice": {"vary": choices}, "selection": "oldest_first"},
            "baseline": {"choice": choices[0]},
            "seeds": seeds,
            "measures": ["makespan_cycles", "groups_never_started"],
            **more,
        },
        workers=0,
    )


def test_a_policy_that_hangs_is_the_worst_and_the_line_says_how_many_never_start(file: Path):
    results = compared(file, ["first_module", "round_robin", "best_fit_module"])
    makespan, never = blocks(results)
    assert [line.size for line in makespan.lines] == ["", "hangs (1 of 5)", ""]
    assert makespan.lines[1].verdict == "worse, exact: nothing is drawn"
    assert [line.value for line in never.lines] == ["0", "1", "0"]
    (note,) = [note for note in results.notes if "hangs" in note]
    assert note == (
        "round_robin: hangs at 1 of 1 seeds (1 of 5 groups never start), so makespan_cycles of these runs are missing; "
        "in a comparison these runs are the worst."
    )


DOES_LESS = ["failed_rounds", "probe_operations"]
"""Measures that count what a run does until it hangs."""


@pytest.mark.parametrize("measure", DOES_LESS)
def test_a_policy_that_hangs_does_not_win_by_doing_less(file: Path, measure: str):
    with file.open("a") as rows:
        rows.writelines(["0,0,1,1,0,5,0,0,0,-1\n"] * 40)
    results = compared(file, ["first_module", "round_robin"], measures=[measure, "groups_never_started"])
    line = blocks(results)[0].lines[1]
    assert (line.size, line.verdict) == ("hangs (41 of 45)", "worse, exact: nothing is drawn")
    (note,) = [note for note in results.notes if "hangs" in note]
    assert note == (
        "round_robin: hangs at 1 of 1 seeds (41 of 45 groups never start); in a comparison these runs are the worst."
    )


def test_two_that_hang_tie(file: Path):
    results = compared(file, ["round_robin", "least_waves"])
    (makespan, _) = blocks(results)
    assert [line.size for line in makespan.lines] == ["hangs (1 of 5)"] * 2
    assert makespan.lines[1].verdict == "the same in the one run"


def test_a_policy_that_hangs_at_some_seeds_is_compared_over_all(file: Path):
    results = compared(file, ["two_choices", "random_module"], seeds=30)
    point = results.points[1]
    hung = results.hang(point)
    assert hung is not None
    assert 0 < hung.seeds < 30
    values = by_seed(results, point, "makespan_cycles")
    assert sum(map(math.isinf, values.values())) == hung.seeds
    assert f"hangs at {hung.seeds} of 30 seeds" in blocks(results)[0].lines[1].note


@pytest.mark.parametrize("objective", ["makespan_cycles", "failed_rounds"])
def test_a_trial_of_a_study_that_hangs_has_no_values_and_says_so(file: Path, objective: str):
    machine = {"compute_units": 4, "simds_a_unit": 1, "waves_a_unit": 2}
    study = wb.tune(
        {
            "engine": "dispatch",
            "machine": machine,
            "workload": {"file": str(file)},
            "policy": {"choice": {"tune": ["first_module", "round_robin"]}, "selection": "oldest_first"},
            "objectives": [objective],
            "seeds": 1,
            "holdout_seeds": 1,
            "trials": 2,
        }
    )
    assert sorted(study.trials["error"]) == [
        "",
        f"seed 0: {objective} does not count, as the run hangs (groups_never_started: 1).",
    ]


def test_a_table_of_a_bundle_says_which_policy_hangs(file: Path, tmp_path: Path):
    results = compared(file, ["first_module", "round_robin"])
    results.export(tmp_path / "bundle")
    makespan = (tmp_path / "bundle" / "tables" / "makespan_cycles.tex").read_text()
    assert "round robin & 0 & hangs (1 of 5) & " in makespan
    never = (tmp_path / "bundle" / "tables" / "groups_never_started.tex").read_text()
    assert "hangs" not in never.partition("\\begin{tabular}")[2]


def test_a_table_of_a_bundle_says_at_how_many_seeds_a_policy_hangs(file: Path, tmp_path: Path):
    results = compared(file, ["two_choices", "random_module"], seeds=30)
    results.export(tmp_path / "bundle")
    table = (tmp_path / "bundle" / "tables" / "makespan_cycles.tex").read_text()
    hung = results.hang(results.points[1])
    assert hung is not None
    assert 0 < hung.seeds < 30
    (row,) = [line for line in table.splitlines() if line.startswith("random module & ")]
    assert f"$ (hangs at {hung.seeds} of 30 seeds) & " in row


@pytest.mark.parametrize("measure", ["makespan_cycles", "probe_operations"])
def test_a_claim_of_a_ratio_takes_a_run_that_hangs_for_the_worst(file: Path, measure: str):
    results = compared(file, ["first_module", "round_robin"], measures=[measure, "groups_never_started"])
    case = no_worse(results, *results.points, measure, 1e9)
    assert case.estimate == math.inf
