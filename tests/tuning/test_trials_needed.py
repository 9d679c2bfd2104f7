"""The books of `benchmarks/samplers.py`: a common front, a common reference point, and what was never reached."""

from __future__ import annotations

import pytest

from benchmarks.samplers import compared, needed
from tests.tuning.small import small
from workbench.experiments.store import Store


def test_trials_are_counted_to_a_share_of_what_all_found_together():
    good = [(4.0, 4.0), None, (0.0, 1.0), (1.0, 0.0)]  # the front of all, from the reference point (1.1, 1.1)
    half = [(0.0, 1.0), (4.0, 4.0), (4.0, 4.0), None]
    quick = [(1.0, 0.0), (0.0, 1.0), (4.0, 4.0), None]
    first, second = needed({"both": [good, quick], "one": [half]})
    assert (first.trials, first.reached, first.shares) == ([4, 2], 2, pytest.approx([1.0, 1.0]))
    assert (second.trials, second.reached) == ([4], 0)
    assert second.shares == pytest.approx([1.1 * 0.1 / (2 * 1.1 * 0.1 - 0.1 * 0.1)])
    assert first.line(4).split()[:7] == ["both", "2", "of", "2", "3", "[", "1,"]
    assert ">=" in second.line(4)


def test_samplers_share_their_runs_and_those_that_are_not_legal_say_why(monkeypatch):
    monkeypatch.setattr("benchmarks.samplers.SAMPLERS", {"random": {}, "qmc": {}, "cmaes": {}})
    store = Store(None)
    table, not_legal = compared(small(), {"seeds": 1}, 6, 2, store)
    assert [row.sampler for row in table] == ["random", "qmc"] and all(len(row.trials) == 2 for row in table)
    assert not_legal == [
        "study: sampler cmaes serves one objective. Got 2; nsga2, nsga3, tpe, gp, qmc and random take more."
    ]
    runs = [row.id for row in store.rows()]
    assert len(runs) == len(set(runs)) <= 24
