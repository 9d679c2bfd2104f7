"""Many setups named at once are named as one by one, and what they share is read and written once."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from workbench.digests import canonical
from workbench.experiments import plan, setups
from workbench.experiments.plan import Plan, make_plan
from workbench.experiments.runner import run_missing
from workbench.experiments.store import Store
from workbench.experiments.sweep import read_sweep
from workbench.levers import lever
from workbench.policies.placement import Placement
from workbench.runs import user_code
from workbench.runs.run import point_id

SWEEPS = Path(__file__).parents[2] / "sweeps"


class ShiftedStart(Placement):
    """A user's own policy, whose text is part of its name."""

    shift: int = lever(0, least=0, most=8, description="where to begin")

    def answer(see):
        return int(see.levers[0])


SHAPES = {
    "one point": {"workload": "bimodal"},
    "nested levers": {
        "workload": {"synthetic": "random_workgroups", "size": {"uniform": [1, {"vary": [8, 9]}]}},
        "machine": {"segments": {"vary": [64, 96]}},
    },
    "a user's policy": {"workload": "bimodal", "policy": {"placement": {"vary": ["buddy", ShiftedStart(shift=2)]}}},
    "a design": {
        "workload": {"regime": "small_uniform", "count": {"vary": {"from": 2, "to": 60}}},
        "policy": {"placement": {"vary": ["best_fit", {"nearest_boundary": {"tie": "high"}}]}},
        "design": {"sobol": 16},
    },
}


def named_one_by_one(points, revision):
    return [point_id(point.setup.identity(), revision) for point in points]


@pytest.mark.parametrize("baseline", [None, {"placement": "first_fit"}])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_points_are_named_by_their_whole_identity(shape, baseline):
    sweep = read_sweep({"engine": "shared_memory", **shape, **({"baseline": baseline} if baseline else {})})
    points = make_plan(sweep).points
    assert [point.id for point in points] == named_one_by_one(points, sweep.mechanism.revision)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_a_store_keeps_their_whole_identity_though_it_writes_each_part_once(shape):
    result = make_plan(read_sweep({"engine": "shared_memory", **shape, "seeds": 1}))
    store = Store(None)
    run_missing(Plan(result.sweep, result.points[:5]), store)
    assert store.identities() == {point.id: point.setup.identity() for point in result.points[:5]}
    texts = user_code.PointIds(result.sweep.mechanism.revision)
    assert [texts.identity(p.setup) for p in result.points] == [canonical(p.setup.identity()) for p in result.points]


@pytest.mark.parametrize("name", ["placement/request_size", "dispatch/splitting", "dispatch/weights"])
def test_points_of_shipped_sweeps_are_too(name):
    sweep = read_sweep(SWEEPS / f"{name}.yaml")
    points = make_plan(sweep).points
    assert [point.id for point in points] == named_one_by_one(points, sweep.mechanism.revision)


def test_an_id_is_the_digest_that_stores_have_held_since_they_began():
    text = '{"engine":"e","machine":{"b":1},"options":{},"policies":{},"revision":3,"workload":{"w":{"a":0.5}}}'
    identity = {"engine": "e", "machine": {"b": 1}, "workload": {"w": {"a": 0.5}}, "policies": {}, "options": {}}
    assert point_id(identity, 3) == blake2b(text.encode(), digest_size=16).hexdigest()


@pytest.mark.slow
def test_a_plan_puts_each_shared_part_into_words_once_and_reads_its_baseline_once(monkeypatch):
    """What 100,000 points in 5 s rest on, counted and not timed."""
    written, read = [], []
    canonical, policies = user_code.canonical, setups.read_policies
    monkeypatch.setattr(user_code, "canonical", lambda value: written.append(1) or canonical(value))
    for module in (plan, setups):
        monkeypatch.setattr(module, "read_policies", lambda *given: read.append(1) or policies(*given))
    sizes = {"regime": "small_uniform", "count": {"vary": list(range(2, 52))}}
    sweep = {"engine": "shared_memory", "workload": sizes, "machine": {"segments": {"vary": list(range(40, 60))}}}
    placements = {"placement": {"vary": ["best_fit", "first_fit"]}}
    result = make_plan(read_sweep({**sweep, "policy": placements, "baseline": {"placement": "first_fit"}}))
    assert len(result.points) == 2000
    assert len(read) == 3
    assert len(written) < 100
