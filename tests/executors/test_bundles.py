"""Bundles: every run is handed out once, in bundles that are neither too large nor too small."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.executors.bundles import AIM_SECONDS, MOST, Bundler
from workbench.runs.row import Row
from workbench.runs.run import PlannedPoint, PlannedRun


def pending(points: int, seeds: int) -> list[PlannedRun]:
    made = [PlannedPoint(f"p{k}", None, {}, None) for k in range(points)]
    return [PlannedRun(f"{point.id}/{seed}", point, seed) for seed in range(seeds) for point in made]


def handed_out(bundler: Bundler, seconds, hands: int = 1):
    while (bundle := bundler.next(hands)) is not None:
        yield bundle
        bundler.learn(Row(*task, "done", "", seconds(task), {}) for task in bundle.tasks)


@given(st.integers(1, 30), st.integers(1, 60), st.integers(1, 16), st.floats(1e-7, 2.0))
def test_every_run_is_handed_out_once_with_its_setup(points, seeds, hands, seconds):
    runs = pending(points, seeds)
    bundles = list(handed_out(Bundler(runs), lambda task: seconds, hands))
    assert sorted(task.id for bundle in bundles for task in bundle.tasks) == sorted(run.id for run in runs)
    assert all(set(bundle.setups) == {task.point for task in bundle.tasks} for bundle in bundles)
    assert all(1 <= len(bundle.tasks) <= MOST for bundle in bundles)


def test_short_runs_of_many_points_go_together_and_long_runs_alone():
    short = [len(bundle.tasks) for bundle in handed_out(Bundler(pending(3000, 1)), lambda task: 1e-4)]
    assert max(short) == MOST
    assert len(short) < 60
    long = [len(bundle.tasks) for bundle in handed_out(Bundler(pending(3, 10)), lambda task: 2 * AIM_SECONDS)]
    assert set(long) == {1}


def test_towards_the_end_each_of_the_hands_gets_its_share():
    bundler = Bundler(pending(1, 400))
    sizes = [len(bundle.tasks) for bundle in handed_out(bundler, lambda task: 0.001, hands=4)]
    assert max(sizes) <= 100
    assert max(sizes[-3:]) <= 10


def test_what_is_left_of_a_bundle_keeps_its_setups():
    bundle = Bundler(pending(2, 1)).next()
    assert bundle is not None
    assert [len(one.tasks) for one in bundle.alone()] == [1] * len(bundle.tasks)
    assert list(bundle.after(len(bundle.tasks))) == []
    (rest,) = bundle.after(0)
    assert rest == bundle
