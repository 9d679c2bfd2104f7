"""What a study says of its front: no more than fresh seeds show, once for each outcome, corrected over the front."""

import math

import numpy as np
import pytest

import workbench as wb
from workbench.errors import InputError
from workbench.studies.tuning import importances
from workbench.studies.tuning.front import Front
from workbench.studies.tuning.holdout import different
from workbench.studies.tuning.importances import INERT
from workbench.studies.tuning.trial import Trial

STUDY = {
    "engine": "shared_memory",
    "machine": {"segments": 64},
    "workload": {"synthetic": "random_workgroups", "count": 60, "size": {"uniform": [1, 32]}},
    "policy": {"placement": {"tune": ["best_fit", "worst_fit", {"nearest_boundary": {"tie": {"tune": True}}}]}},
    "baseline": {"placement": "first_fit"},
    "objectives": [{"measure": "drain_cycles"}],
    "seeds": 4,
    "holdout_seeds": {"first": 100, "count": 12},
    "sampler": {"nsga2": {"population": 8, "seed": 1}},
    "trials": 24,
}


@pytest.fixture(scope="module", autouse=True)
def inert_draws():
    """Shares are read here: the inert lever is drawn as often as in any study."""


@pytest.fixture(scope="module")
def found():
    return wb.tune(STUDY, workers=1)


def test_points_of_equal_outcome_are_one_row():
    """A front of 78 rows held two outcomes, which diluted Holm's correction."""
    made = [
        Trial(k, None, f"p{k}", values, "", (), None) for k, values in enumerate([(1.0, 2.0), (1.0, 2.0), (0.5, 3.0)])
    ]
    assert [one.number for one in different(made)] == [0, 2]


def test_a_lever_that_changes_nothing_is_drawn_beside_the_others(found):
    table = found.importances.set_index("lever")["drain_cycles"]
    assert 0 < table[INERT] <= 1
    assert table.drop(INERT).sum() == pytest.approx(1)


def test_the_noise_floor_is_over_what_the_others_share(monkeypatch):
    """Six shares add up to 1 where the inert lever is drawn, five in the table: 70 % of empty studies had one above."""
    shares = {None: {"a": 0.6, "b": 0.4}, 0: {"a": 0.5, "b": 0.3, INERT: 0.2}, 1: {"a": 0.6, "b": 0.3, INERT: 0.1}}
    monkeypatch.setattr(importances, "_shares", lambda study, target: shares[study])
    floor = importances._with_floor(None, [0, 1], None)[INERT]
    assert 0.245 < floor <= 0.25  # 0.2 / 0.8, at the quantile of two levers
    assert importances._among_the_others(0.9) == importances._among_the_others(1.0) == 1.0


def test_beating_the_baseline_needs_a_p_value_corrected_over_the_front(found, monkeypatch):
    """20 to 29 % of studies in which nothing differs had a point that "beats" the baseline."""
    front = found.front
    monkeypatch.setattr(Front, "comparison", lambda self, point, one: compared(point))
    noise = {point.id: np.random.default_rng(k) for k, point in enumerate(front.points)}

    def compared(point):
        from workbench.studies.statistics import compare

        return compare(noise[point.id].normal(1000, 10, 12), noise[point.id].normal(1000, 10, 12))

    table = front.table()
    assert not table["beats_baseline"].any()


def test_an_infinite_run_makes_no_point_best(found, monkeypatch):
    """A tuned row was `best` with 7 of 20 runs infinite, as they were left out of its mean."""
    front = found.front
    assert any(front.best)
    real = type(front._holdout).values

    def some_infinite(self, point, measure):
        values = real(self, point, measure)
        return {seed: math.inf if k < 3 else value for k, (seed, value) in enumerate(values.items())}

    monkeypatch.setattr(type(front._holdout), "values", some_infinite)
    again = Front(found.study, front.trials, front._holdout)
    assert not any(again.best) and all(math.isinf(row[0]) for row in again.means)
    assert again.table()["n"].tolist() == [12] * len(again.points)


def test_a_hold_out_that_is_the_tuned_run_is_refused():
    constant = {"synthetic": "random_workgroups", "count": 60, "size": 4, "duration": 9}
    with pytest.raises(InputError, match=r"no more different runs|holdout_seeds must be fresh"):
        wb.tune({**STUDY, "workload": constant}, workers=1)
    with pytest.raises(InputError, match=r"holdout_seeds must be fresh: seed 100 is the same run as seed 1"):
        wb.tune({**STUDY, "workload": constant, "seeds": 2, "holdout_seeds": {"first": 100, "count": 1}}, workers=1)
