"""Bold rows: the best estimate and what is not told from it, on samples of which the best policies are known."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.export.manifest import digest_of
from workbench.export.verify import verify
from workbench.statistics import compare
from workbench.statistics.best import bold_over, bold_points, bold_rows, comparable, is_worse
from workbench.statistics.comparisons import judged


def bold(values: dict[str, Any], worse: tuple[str, ...] = (), **more: Any) -> set[str]:
    """Return the bold rows of samples of a time; a seed that does not end is infinite."""
    estimates = {name: -float(np.mean(row)) for name, row in values.items()}
    return set(
        bold_rows(
            estimates, lambda best, other, alpha: is_worse(compare(values[best], values[other], **more), alpha), worse
        )
    )


def planted(offsets: list[float], seeds: int, spread: float = 1.0, seed: int = 5) -> dict[str, Any]:
    """Return times of policies with these true differences; all share what a seed draws."""
    draws = np.random.default_rng(seed)
    shared = draws.uniform(900, 1100, seeds)
    return {f"p{k}": shared + offset + draws.normal(0, spread, seeds) for k, offset in enumerate(offsets)}


def test_the_planted_best_are_bold_and_the_others_are_not():
    values = planted([0.0, 0.0, 0.0, 4.0, 6.0, 9.0], seeds=60)
    assert bold(values) == {"p0", "p1", "p2"}
    assert bold(values, compared_by="ratio") == {"p0", "p1", "p2"}


@pytest.mark.parametrize("count", [2, 5, 20])
def test_the_true_best_is_in_the_set_in_95_percent_of_all_blocks(count):
    """The worst case: all are the same, so any row that is told is an error about the best, p0."""
    errors = 0
    for study in range(400):
        values = planted([0.0] * count, seeds=12, seed=study)
        result = bold(values)
        errors += bool(result) and "p0" not in result
    assert errors / 400 < 0.05


def test_more_seeds_tell_more():
    few, many = (planted([0.0, 0.5, 3.0], seeds) for seeds in (10, 800))
    assert bold(few) == {"p0", "p1"} and bold(many) == {"p0"}


def test_no_row_is_bold_if_all_are_in_the_set():
    assert bold(planted([0.0, 0.0, 0.0], seeds=30)) == set()
    same = {name: [5.0, 6.0, 7.0] * 4 for name in "abc"}
    assert bold(same) == set()


def test_rows_that_tie_are_bold_together():
    values = planted([0.0, 8.0], seeds=20)
    assert bold({**values, "twin": values["p0"]}) == {"p0", "twin"}


def test_one_seed_is_no_sample_and_exact_rows_need_no_test():
    once = {"a": [10.0], "b": [12.0], "c": [10.0]}
    assert bold(once) == set()
    assert bold(once, exact=True) == {"a", "c"}
    assert bold({"a": [10.0], "b": [10.0]}, exact=True) == set()


def test_a_row_that_is_called_worse_is_not_bold():
    values = planted([0.0, 0.0, 6.0], seeds=40)
    best, second, _ = sorted(values, key=lambda name: float(np.mean(values[name])))
    assert bold(values) == {best, second}
    assert bold(values, (second,)) == {best}
    assert bold(values, (best,)) == set()


def test_a_row_that_does_not_end_is_never_bold_and_one_seed_of_it_tells_nothing():
    values = planted([0.0, 0.0], seeds=20)
    hung = [math.inf] * 20
    assert bold({**values, "hangs": hung}) == {"p0", "p1"}
    once = [math.inf, *values["p1"][1:]]
    assert bold({"p0": values["p0"], "once": once}) == set()
    assert bold({"a": hung, "b": hung}) == set()


SWEEP: dict[str, Any] = {
    "engine": "shared_memory",
    "workload": {"regime": {"vary": ["large_uniform", "bimodal"]}, "count": 40},
    "policy": {"placement": {"vary": ["first_fit", "nearest_boundary", "worst_fit"]}},
    "baseline": {"placement": "first_fit"},
    "seeds": 20,
    "measures": ["drain_cycles", "wait_mean_cycles"],
}


@pytest.fixture(scope="module")
def results() -> wb.Results:
    return wb.run(SWEEP, workers=0)


def test_a_block_is_a_workload_and_its_baseline_comes_first(results):
    blocks = [[results.label(point) for point in block] for block in comparable(results)]
    assert len(blocks) == 2 and all(len(block) == 3 and "first_fit" in block[0] for block in blocks)


def test_no_point_that_a_verdict_calls_worse_is_bold(results):
    verdicts = judged(results).verdicts
    for name in SWEEP["measures"]:
        chosen = bold_points(results, name)
        words = {point.id: verdicts[name, point.id].word for point in results.points if point.baseline}
        worse = {id for id, word in words.items() if "worse" in word}
        worse |= {point.baseline for point in results.points if "better" in words.get(point.id, "")}
        assert worse and chosen and not chosen & worse


def test_some_points_are_bold_as_in_the_whole_sweep(results):
    some = results.only("nearest_boundary")
    assert bold_points(some, "drain_cycles") == bold_points(results, "drain_cycles")


def test_over_workloads_the_policies_are_compared_with_each_other(results):
    over = [one for one in judged(results).over if one.measure == "drain_cycles"]
    assert [one.name for one in over] == ["nearest_boundary", "worst_fit"]
    assert bold_over(results, over) == {"nearest_boundary"}
    assert bold_over(results, [one for one in over if one.name == "worst_fit"]) == set()


def test_a_bundle_sets_the_same_rows_bold_and_verify_recomputes_them(results, tmp_path):
    bundle = results.export(tmp_path / "paper")
    manifest = json.loads((bundle / "manifest.json").read_text())
    rows = manifest["tables"]["tables/drain_cycles.tex"]
    assert {row["point"] for row in rows if row.get("point") and row["bold"]} == bold_points(results, "drain_cycles")
    assert [row["policy"] for row in rows if "points" in row and row["bold"]] == ["nearest_boundary"]
    table = bundle / "tables" / "drain_cycles.tex"
    lines = table.read_text().splitlines()
    assert sum("\\mathbf{" in line for line in lines) == sum(row["bold"] for row in rows)
    rows[0]["bold"] = True
    table.write_text(table.read_text().replace("\\mathbf{", "\\mathit{", 1))
    manifest["files"]["tables/drain_cycles.tex"] = digest_of(table)
    (bundle / "manifest.json").write_text(json.dumps(manifest))
    lines = verify(bundle, sample=1).lines
    assert any(line.startswith("tables/drain_cycles.tex: ") and "mathit" in line for line in lines)
    assert any(line.endswith("bold: says True, recomputed False") for line in lines)
