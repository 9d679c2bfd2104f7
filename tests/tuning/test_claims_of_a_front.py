"""What a study says of its front: no more than fresh seeds show, once for each outcome, corrected over the front."""

import math

import numpy as np
import pytest

import workbench as wb
from benchmarks.statistics import tuning as planted
from workbench.errors import InputError
from workbench.statistics import compare
from workbench.tuning import importances
from workbench.tuning.contrasts import Contrast
from workbench.tuning.front import Front
from workbench.tuning.holdout import different
from workbench.tuning.importances import INERT
from workbench.tuning.study import Trial

STUDY = {
    "engine": "shared_memory",
    "machine": {"segments": 64},
    "workload": {"synthetic": "random_workgroups", "count": 60, "size": {"uniform": [1, 32]}},
    "policy": {
        "placement": {"tune": ["best_fit", "worst_fit", {"size_segregated_ends": {"threshold": {"tune": True}}}]}
    },
    "baseline": {"placement": "first_fit"},
    "objectives": [{"measure": "drain_cycles"}],
    "seeds": 4,
    "holdout_seeds": {"first": 100, "count": 12},
    "sampler": {"nsga2": {"population": 8, "seed": 1}},
    "trials": 24,
}


@pytest.fixture(scope="module", autouse=True)
def shuffles():
    """Shares are read here: outcomes are shuffled as often as in any study."""


@pytest.fixture(scope="module")
def results():
    return wb.tune(STUDY, workers=1)


def test_points_of_equal_outcome_are_one_row():
    """A front of 78 rows held two outcomes, which diluted Holm's correction."""
    made = [
        Trial(k, None, f"p{k}", values, "", (), None) for k, values in enumerate([(1.0, 2.0), (1.0, 2.0), (0.5, 3.0)])
    ]
    assert [one.number for one in different(made)] == [0, 2]


@pytest.mark.slow
def test_the_table_says_what_levers_reach_that_change_nothing(results):
    table = results.importances.set_index("lever")["drain_cycles"]
    assert 0 < table[INERT] <= 1
    assert table.drop(INERT).sum() == pytest.approx(1)


def test_the_noise_floor_is_the_largest_of_all_levers_where_outcomes_are_shuffled(monkeypatch):
    """A quantile for each lever had one of five levers above it in 70 % of empty studies."""
    parts = {None: {"a": 6.0, "b": 2.0}} | {k: {"a": 0.01 * k, "b": 1.0 - 0.01 * k} for k in range(99)}
    monkeypatch.setattr(importances, "_parts", lambda study, target: parts[study])
    shares = importances._with_floor(None, range(99), None)
    largest = sorted(max(parts[k].values()) for k in range(99))
    assert shares == pytest.approx({"a": 0.75, "b": 0.25, INERT: largest[94] / 8})


def test_where_no_trial_differs_no_share_means_anything(monkeypatch):
    monkeypatch.setattr(importances, "_parts", lambda study, target: {"a": 0.0, "b": 0.0})
    assert importances._with_floor(None, range(99), None) == {"a": 0.5, "b": 0.5, INERT: 1.0}


@pytest.mark.slow
def test_one_lever_that_matters_is_above_the_floor_and_the_others_are_not():
    """The floor is of the divergence itself, so a share that one lever takes is not missing for the others."""
    draws = np.random.default_rng(5)
    chosen = draws.random((200, len(planted.LEVERS)))
    values = 1000 + 100 * np.abs(chosen[:, 0] - 0.3) + draws.normal(0, 1, 200)
    made = [
        planted.trial(k, dict(zip(planted.paths(), row, strict=True)), (float(value),))
        for k, (row, value) in enumerate(zip(chosen.tolist(), values, strict=True))
    ]
    shares = importances.lever_shares(planted.study(), made)["drain_cycles"]
    above = [path for path, share in shares.items() if path != INERT and share > shares[INERT]]
    assert above == [planted.paths()[0]]


def test_beating_the_baseline_needs_a_p_value_corrected_over_the_front(results, monkeypatch):
    """20 to 29 % of studies in which nothing differs had a point that "beats" the baseline."""
    noise = {point.id: np.random.default_rng(k) for k, point in enumerate(results.front.points)}

    def contrast(self, point, objective, runs=None):
        sides = [noise[point.id].normal(1000, 10, 12) for _ in range(2)]
        return Contrast(objective, compare(*sides, compared_by="ratio"), ())

    monkeypatch.setattr(Front, "contrast", contrast)
    table = Front(results.study, results.front.trials, results.holdout).table()
    assert not table["beats_baseline"].any()
    assert set(table["drain_cycles_verdict"]) <= {"undecided", "equal"}


def test_points_that_differ_in_nothing_but_luck_seldom_beat_the_baseline():
    rate = planted.false_winners(points=8, objectives=1, repetitions=200)
    assert rate.interval.low < 0.05


def test_every_word_of_a_front_is_corrected_over_all_of_its_comparisons(results):
    front = results.front
    assert {one.verdict.comparisons for one in front.decided.values()} == {len(front.points)}
    row = front.table().iloc[0]
    one = front.decided[0, "drain_cycles"]
    assert (row.drain_cycles_size, row.drain_cycles_verdict) == (one.verdict.of.size.mean, one.verdict.word)
    assert row.drain_cycles_p == one.verdict.p >= one.verdict.of.p_size


@pytest.mark.parametrize("lost", [math.inf, math.nan], ids=["infinite", "refused"])
def test_an_infinite_run_and_one_that_refused_make_no_point_best(results, monkeypatch, lost):
    """A tuned row was `best` with 7 of 20 runs infinite, as they were left out of its mean."""
    front = results.front
    assert any(front.best)
    real, worst = type(front._holdout).values, set(front._holdout.seeds[:3])

    def some_lost(self, point, measure):
        return {seed: lost if seed in worst else value for seed, value in real(self, point, measure).items()}

    monkeypatch.setattr(type(front._holdout), "values", some_lost)
    monkeypatch.setattr(type(front._holdout), "refused", lambda *_: worst if math.isnan(lost) else set())
    again = Front(results.study, front.trials, front._holdout)
    assert not any(again.best) and all(math.isinf(row[0]) for row in again.means)
    assert again.table()["n"].tolist() == [12] * len(again.points)


def test_a_hold_out_that_is_the_tuned_run_is_refused():
    constant = {"synthetic": "random_workgroups", "count": 60, "size": 4, "duration": 9}
    with pytest.raises(InputError, match=r"no more different runs|holdout_seeds must be fresh"):
        wb.tune({**STUDY, "workload": constant}, workers=1)
    with pytest.raises(InputError, match=r"holdout_seeds must be fresh: seed 100 is the same run as seed 1"):
        wb.tune({**STUDY, "workload": constant, "seeds": 2, "holdout_seeds": {"first": 100, "count": 1}}, workers=1)
