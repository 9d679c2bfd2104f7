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
    while (chunk := bundler.next(hands)) is not None:
        yield chunk
        bundler.learn(Row(*task, "done", "", seconds(task), {}) for task in chunk.tasks)


@given(st.integers(1, 30), st.integers(1, 60), st.integers(1, 16), st.floats(1e-7, 2.0))
def test_every_run_is_handed_out_once_with_its_setup(points, seeds, hands, seconds):
    runs = pending(points, seeds)
    chunks = list(handed_out(Bundler(runs), lambda task: seconds, hands))
    assert sorted(task.id for chunk in chunks for task in chunk.tasks) == sorted(run.id for run in runs)
    assert all(set(chunk.setups) == {task.point for task in chunk.tasks} for chunk in chunks)
    assert all(1 <= len(chunk.tasks) <= MOST for chunk in chunks)


def test_short_runs_of_many_points_go_together_and_long_runs_alone():
    short = [len(chunk.tasks) for chunk in handed_out(Bundler(pending(3000, 1)), lambda task: 1e-4)]
    assert max(short) == MOST
    assert len(short) < 60
    long = [len(chunk.tasks) for chunk in handed_out(Bundler(pending(3, 10)), lambda task: 2 * AIM_SECONDS)]
    assert set(long) == {1}


def test_towards_the_end_each_of_the_hands_gets_its_share():
    bundler = Bundler(pending(1, 400))
    sizes = [len(chunk.tasks) for chunk in handed_out(bundler, lambda task: 0.001, hands=4)]
    assert max(sizes) <= 100
    assert max(sizes[-3:]) <= 10


def test_what_is_left_of_a_bundle_keeps_its_setups():
    chunk = Bundler(pending(2, 1)).next()
    assert chunk is not None
    assert [len(one.tasks) for one in chunk.alone()] == [1] * len(chunk.tasks)
    assert list(chunk.after(len(chunk.tasks))) == []
    (rest,) = chunk.after(0)
    assert rest == chunk
