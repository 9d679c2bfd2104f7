"""A trial that breaks a bound is never on the front, and samplers are told how far it is off."""

from __future__ import annotations

import pytest

from tests.tuning.small import small
from workbench.errors import WorkbenchError
from workbench.tuning import tune
from workbench.tuning.objectives import Constraint


def bound(trials):
    """A bound in the middle of what the unconstrained study found."""
    return float(trials.mean_queue.median())


def constrained(bounds, **changed):
    return small(constraints=bounds, **changed)


@pytest.fixture(scope="module")
def middle():
    results = tune(small(objectives=["mean_queue"], sampler={"random": {"seed": 5}}, trials=30))
    return bound(results.trials)


@pytest.mark.parametrize("sampler", [{"nsga2": {"population": 6, "seed": 3}}, {"tpe": {"startup": 5}}, "nsga3"])
def test_only_feasible_trials_are_on_the_front(middle, sampler):
    results = tune(constrained({"mean_queue": {"most": middle}}, trials=30, sampler=sampler))
    table = results.trials
    assert (table.feasible == (table.mean_queue <= middle)).all()
    assert 0 < table.feasible.sum() < len(table)
    assert table.feasible[table.front].all()
    assert results.history.volumes[~table.feasible.cumsum().astype(bool)].sum() == 0
    pareto = results.pareto
    assert (pareto.feasible == (pareto.mean_queue <= middle)).all()
    assert pareto.feasible[pareto.best].all()


def test_bounds_that_nothing_keeps_leave_no_front(middle):
    results = tune(constrained({"mean_queue": {"most": middle / 1000}}))
    assert results.holdout is None and not results.any_failed
    with pytest.raises(WorkbenchError, match="none of the 20 trials keeps the constraints, so there is no front"):
        _ = results.pareto


@pytest.mark.slow
def test_the_journal_has_the_bounds_so_that_a_study_goes_on(tmp_path, middle):
    study = constrained({"mean_queue": {"most": middle}, "drain_cycles": {"least": 1}})
    tune(study, tmp_path / "out", 9)
    assert tune(study, tmp_path / "out").trials.equals(tune(study).trials)


def test_how_far_a_bound_is_broken_is_a_share_of_it(middle):
    measure = tune(small(trials=1)).study.objectives[0].measure
    both = Constraint(measure, 2.0, 10.0)
    assert both.broken_by(15.0) == {"drain_cycles at least 2": -6.5, "drain_cycles at most 10": 0.5}
    assert [both.kept_by(value) for value in (1.9, 2.0, 10.0, 10.1, float("nan"))] == [False, True, True, False, False]
    assert Constraint(measure, None, 0.0).broken_by(3.0) == {"drain_cycles at most 0": 3.0}
