"""Bold rows never contradict the words of the lines: on synthetic blocks of many kinds, each from a seed of its own."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import workbench as wb
from workbench.experiments.plan import Plan
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, run_id
from workbench.statistics.result_rows import ResultBlock
from workbench.statistics.result_table import ResultTable

CHOICES = ["first_module", "round_robin", "best_fit_module", "two_choices", "random_module"]
MEASURES = {"makespan_cycles": -1, "groups_per_kilocycle": 1, "wait_mean_cycles": -1, "utilisation": 1}
"""Two ratios and two differences, each with the side that is better."""
SHAPES = ("symmetric", "skewed", "ties", "constant", "opposed")
UNFINISHED = (
    "none",
    "hangs at some",
    "hangs at all",
    "starves at some",
    "baseline hangs at some",
    "baseline hangs at all",
)
CASES = 150


@functools.cache
def plan(policies: int, seeds: int) -> Plan:
    return wb.planned(
        {
            "engine": "dispatch",
            "workload": {"synthetic": "random_groups", "count": {"vary": [20, 30]}},
            "policy": {"choice": {"vary": CHOICES[:policies]}},
            "baseline": {"choice": CHOICES[0]},
            "seeds": seeds,
            "least_effect": {"wait_mean_cycles": 20},
            "measures": [*MEASURES],
        }
    )


def gains(shape: str, draws: np.random.Generator, seeds: int) -> np.ndarray:
    """Return the shares by which a policy is better at each seed."""
    size = draws.choice([-0.05, -0.01, 0.0, 0.0, 0.004, 0.02, 0.06])
    if shape == "symmetric":
        return size + draws.normal(0, 0.03, seeds)
    if shape == "skewed":
        return size + 0.02 * (draws.lognormal(0, 1.2, seeds) - 1.5)
    if shape == "ties":
        return draws.choice([0.0, 0.0, 0.02, size], seeds)
    if shape == "constant":
        return np.full(seeds, size)
    return np.where(np.arange(seeds) % 4 == 0, 12 * abs(size) + 0.05, -0.01)  # a few seeds gain much


@functools.cache
def made(case: int) -> tuple[ResultTable, str]:
    """Return the table of a case, and what does not end in it: policies, seeds and the laws of values are drawn."""
    draws = np.random.default_rng(case)
    policies, seeds = 1 + case % len(CHOICES), int(draws.choice([1, 2, 8, 30]))
    of, unfinished = plan(policies, seeds), UNFINISHED[case // len(CHOICES) % len(UNFINISHED)]
    odd = CHOICES[0] if unfinished.startswith("baseline") else CHOICES[policies - 1]
    rows = []
    for point in of.points:
        shape = SHAPES[int(draws.integers(len(SHAPES)))]
        factor = 1 + (0 if point.baseline is None else 1) * gains(shape, draws, seeds)
        common = np.random.default_rng(7).uniform(0.9, 1.1, seeds)
        for k, seed in enumerate(of.sweep.seeds):
            values = {name: 500 * common[k] * factor[k] ** sign for name, sign in MEASURES.items()}
            ends = str(point.coordinates["policy.choice"]) != odd or ("some" in unfinished and k % 3)
            stuck = unfinished != "none" and not ends
            status = "starved" if stuck and "starves" in unfinished else "done"
            never = {"groups_never_started": float(stuck), "groups_of_kernels_that_lack": 5.0 * stuck}
            values |= dict.fromkeys(MEASURES, float("nan")) if stuck else {}
            rows.append(
                Row(run_id(point.id, seed), point.id, seed, status, "it waits." * stuck, 0.0, {**values, **never})
            )
    return (wb.Results if case % 2 else WithoutDraws)(of, rows).comparisons(), unfinished


class WithoutDraws(wb.Results):
    """Runs of which one seed is all that there is."""

    def is_exact(self, point: PlannedPoint) -> bool:
        return True


def faults(block: ResultBlock) -> Iterator[str]:
    """Yield the contradictions that a reader would see."""
    words = {row.name: row.verdict_cell(block.measure) for row in block.rows if row.verdict is not None}
    bold = {row.name for row in block.rows if row.bold}
    baseline = next((row.name for row in block.rows if row.is_baseline), "")
    of = {row.name: row.verdict.of for row in block.rows if row.verdict is not None}
    ends = {name for name, one in of.items() if one.n and one.ended == one.n}
    is_called_worse = any("better" in word for word in words.values())
    if bold == {row.name for row in block.rows} and block.setting != "over workloads":
        yield "all rows are bold"
    if any("worse" in words.get(name, "") for name in bold):
        yield "a bold row is called worse"
    if baseline in bold and is_called_worse:
        yield "the baseline is bold, and a line is better than it"
    if any(row.bold for row in block.rows if row.hang is not None or row.infinite):
        yield "a row that does not end at some seed is bold"
    if bold and baseline and ends == set(of) and ends and all(one.is_sized for one in of.values()):
        sizes = {baseline: next(iter(of.values())).no_effect, **{name: one.size.mean for name, one in of.items()}}
        best = max(sizes, key=lambda name: sizes[name])
        if not any(sizes[name] == sizes[best] for name in bold):
            yield "the best estimate is not bold"
        undecided = [name for name, word in words.items() if not {"better", "worse"} & {*word.replace(",", "").split()}]
        drawn = [name for name in undecided if words[name] != "exact"]
        if best == baseline and not set(drawn) <= bold:
            yield "a row that is not told from the best, the baseline, is not bold"
        if best in drawn and baseline not in bold and not is_called_worse:
            yield "the best is not told from the baseline, and the baseline is not bold"
        if any(words[name] == "the same" and (name in bold) != (baseline in bold) for name in words):
            yield "a row that is the same as the baseline has another weight"


@pytest.mark.parametrize("policies", range(1, len(CHOICES) + 1))
def test_no_bold_row_contradicts_a_line(policies):
    for case in range(policies - 1, CASES, len(CHOICES)):
        table, unfinished = made(case)
        for block in table.blocks:
            assert not [*faults(block)], (case, unfinished, table._replace(blocks=[block]).text(100))


def test_the_cases_have_every_word_and_every_kind_of_run_that_does_not_end():
    tables = [made(case)[0] for case in range(CASES)]
    rows = [(row, block) for table in tables for block in table.blocks for row in block.rows]
    words = "\n".join(row.verdict_cell(block.measure) for row, block in rows)
    for word in (
        "sure better",
        "sure worse",
        "better on average",
        "worse on average",
        "better on most seeds",
        "exact",
        "worse on most seeds",
        "as good as equal",
        "undecided",
        "the same",
        "hangs at",
        "do not end",
    ):
        assert word in words, word
    assert any(row.always_hangs for row, _ in rows)
    kinds: dict[str, Any] = {name: set() for name in ("bold", "plain")}
    for row, block in rows:
        kinds["bold" if row.bold else "plain"].add(block.measure.name)
    assert kinds["bold"] == kinds["plain"] == {*MEASURES}


WORDS = ("sure", "on average", "on most seeds", "as good as equal", "more seeds", "exact", "not compared", "hangs at")
"""Words of rows that a reader has to be told."""


@pytest.mark.parametrize("case", range(0, CASES, 7))
def test_the_key_explains_every_word_of_the_rows_and_no_other(case):
    table, _ = made(case)
    cells = "\n".join(one.verdict for block in table.blocks for one in block.texts)
    key = "\n".join(table.key)
    told = {
        word: re.search(rf"^{'undecided' if word == 'more seeds' else word}: ", key, re.M) is not None for word in WORDS
    }
    assert told == {word: word in cells for word in WORDS}
    assert ("hangs (a of b)" in key) == any(row.always_hangs for block in table.blocks for row in block.rows)
    assert "least effect)" not in key and "{" not in key
