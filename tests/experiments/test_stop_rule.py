"""The runner receives a stop rule: it runs batch after batch, and asks the rule between two of them."""

from __future__ import annotations

import ast
import inspect

import pytest

import workbench as wb
from workbench.experiments import runner, stop_rule
from workbench.experiments.progress import Silent
from workbench.experiments.stop_rule import EverySeed, run_plan
from workbench.experiments.store import Store
from workbench.statistics.adaptive_seeds import cut

SWEEP = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 20}, "seeds": 5}


class Once:
    """Stop when a number of rows is there, looked at after each seed."""

    def __init__(self, rows):
        self.rows, self.asked = rows, []

    def batches(self, plan):
        return [cut(plan, slice(k, k + 1)) for k in range(len(plan.sweep.seeds))]

    def is_met(self, runs, seeds):
        self.asked.append((len(runs.rows), seeds))
        return len(runs.rows) >= self.rows


class Watching(Silent):
    def __init__(self):
        self.begun, self.rows, self.ended = [], 0, 0

    def begin(self, total, kept):
        self.begun.append((total, kept))

    def advance(self, row):
        self.rows += 1

    def end(self):
        self.ended += 1


@pytest.mark.parametrize(("wanted", "seeds"), [(1, 1), (3, 3), (9, 5)])
def test_a_rule_is_asked_after_each_batch_but_the_last(wanted, seeds):
    plan, store, rule, watch = wb.plan(SWEEP), Store(None), Once(wanted), Watching()
    run_plan(plan, store, 0, progress=watch, stop=rule)
    assert sorted(row.seed for row in store.rows()) == list(range(seeds))
    assert rule.asked == [(count, count) for count in range(1, min(seeds, 4) + 1)]
    assert (watch.begun, watch.rows, watch.ended) == ([(5, 0)], seeds, 1)


def test_the_rule_of_every_seed_runs_the_plan_and_is_not_asked(monkeypatch):
    monkeypatch.delattr(EverySeed, "is_met")
    plan, store, watch = wb.plan(SWEEP), Store(None), Watching()
    run_plan(plan, store, 0, progress=watch, stop=EverySeed())
    assert {row.id for row in store.rows()} == {*plan.ids}
    assert (watch.begun, watch.rows, watch.ended) == ([(5, 0)], 5, 1)


def test_neither_the_runner_nor_its_batches_read_the_rule_of_a_sweep():
    for module in (runner, stop_rule):
        names = {
            node.attr for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Attribute)
        }
        assert "sweep" in names and "until" not in names


def test_batches_show_their_progress_where_a_sweep_of_fixed_seeds_does(monkeypatch):
    """In a notebook, a line below the cell."""
    watch = Watching()
    monkeypatch.setattr(stop_rule, "usual_watcher", lambda: watch)
    run_plan(wb.plan(SWEEP), Store(None), 0, stop=Once(9))
    assert (watch.rows, watch.ended) == (5, 1)
