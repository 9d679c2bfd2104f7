"""A run one decision at a time: what is stepped through is what happened, and its state can be read."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import workbench as wb
from tests.slow import thinned
from workbench.cli._new_policy import class_name, write_policy
from workbench.dashboards._sidebar import Sidebar
from workbench.dashboards.paired_runs import PairedRuns
from workbench.errors import InputError, PolicyError
from workbench.explain.decisions import Steps, decisions_of
from workbench.mechanisms.mechanism import mechanism
from workbench.policies.placement import FirstFit
from workbench.structures.bitmaps import unpacked

SWEEP = {"engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 30}}


@pytest.mark.slow
def test_the_state_is_what_the_policy_met():
    with wb.step(SWEEP, 2) as run:
        assert run.state == {}
        assert run.decision is None
        for decision in run:
            free = unpacked(run.state["free"], decision.saw["segments"])
            seen = unpacked(np.array(decision.saw["free"], np.uint64), decision.saw["segments"])
            assert free.tolist() == seen.tolist()
            assert run.decision == decision
    assert decision.number == len(decisions_of(wb.plan(SWEEP).points[0].setup, 2)) - 1


def test_who_goes_one_by_one_sees_what_who_takes_all_sees():
    setup = wb.plan(SWEEP).points[0].setup
    with Steps(setup, 1) as one, Steps(setup, 1) as many:
        taken = [*many.take(5), *many.take(0), *many.take(10**6)]
        assert list(one) == taken
        assert one.next() is None
        assert many.take(3) == []
        assert one.state.keys() == many.state.keys()


def test_until_stops_at_the_first_that_is_wanted():
    with wb.step(SWEEP, set={"policy.placement": "best_fit"}) as run:
        refused = run.until(lambda one: one.answer < 0)
        assert refused is not None
        assert refused.answer == -1
        assert run.next().number == refused.number + 1
        assert run.until(lambda one: one.answer > 10**6) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", thinned(["dispatch", "node", "translation", "pool", "malloc"], 4))
def test_no_decision_is_listed_twice_where_a_run_is_played_again_for_room(name):
    page = Sidebar(mechanism(name), importlib.import_module(f"workbench.dashboards._{name}").CONFIG)
    setup = PairedRuns(page.config()).points[0].setup
    with Steps(setup, 0) as run:
        decisions = run.take(200)
        assert [one.number for one in decisions] == list(range(len(decisions)))
        assert "counters" in run.state


@pytest.fixture
def always_the_first():
    """A policy that soon gives what is taken."""

    class AlwaysTheFirst(FirstFit):
        @staticmethod
        def answer(see):
            return 0

    yield AlwaysTheFirst.name
    wb.remove("policy", AlwaysTheFirst.name)


def test_a_fault_comes_after_the_decisions_before_it(always_the_first):
    with wb.step(SWEEP, set={"policy.placement": always_the_first}) as run:
        kept = run.take(10)
        assert [one.answer for one in kept] == [0] * len(kept)
        for _ in range(2):
            with pytest.raises(PolicyError, match=always_the_first):
                run.next()


def test_a_run_that_was_left_is_not_gone_on_with():
    run = wb.step(SWEEP)
    first = run.next()
    run.close()
    assert first.number == 0
    with pytest.raises(OSError, match="closed"):
        run.next()


def test_a_point_that_is_not_there():
    with pytest.raises(InputError, match="point 2 is asked for; the sweep has points 0 to 0"):
        wb.step(SWEEP, point=2)


SLOW_TO_COMPILE = ("pool cache_fit", "translation eviction", "node frames", "dispatch units")


@pytest.mark.parametrize(
    "asked", ["shared_memory placement", *(pytest.param(asked, marks=pytest.mark.slow) for asked in SLOW_TO_COMPILE)]
)
def test_a_new_policy_of_one_s_own_is_stepped_through_with_the_functions_that_its_file_imports(asked, tmp_path):
    engine, question = asked.split()
    file, _ = write_policy(question, "steps_mine", tmp_path)
    page = Sidebar(mechanism(engine), importlib.import_module(f"workbench.dashboards._{engine}").CONFIG)
    said = {key: value for key, value in page.config().items() if key != "baseline"}
    policy = {**said["policy"], question: f"{file}:{class_name('steps_mine')}"}
    try:
        setup = wb.plan({**said, "policy": policy}).points[0].setup
        decisions = decisions_of(setup, 0, most=60)
        assert len(decisions) == 60
        assert {one.policy.partition("(")[0] for one in decisions if one.question == question} == {"steps_mine"}
    finally:
        wb.remove("policy", "steps_mine")


COMPILED_HELPERS = """
import numba
from workbench.policies.placement.question import Placement
from workbench.structures.bitmaps import is_free

@numba.njit("int64(int64)")
def down(at):
    return at if at <= 0 else down(at - 1)

@numba.njit
def fits(free, at, length):
    return is_free(free, at, length)

class StepsHelped(Placement):
    \"\"\"Take the lowest start that is long enough.\"\"\"

    @staticmethod
    def answer(see):
        for at in range(see.segments - see.length + 1):
            if fits(see.free, at, see.length):
                return at + down(3)
        return -1
"""


@pytest.mark.slow
def test_helpers_that_the_user_compiled_are_plain_functions_where_a_run_is_stepped_through(tmp_path):
    file = tmp_path / "steps_helped.py"
    file.write_text(COMPILED_HELPERS)
    try:
        own, first_fit = (
            decisions_of(wb.plan(SWEEP, set={"policy.placement": name}).points[0].setup, 1)
            for name in (f"{file}:StepsHelped", "first_fit")
        )
        assert [one.answer for one in own] == [one.answer for one in first_fit]
        assert {one.policy for one in own} == {"steps_helped"}
    finally:
        wb.remove("policy", "steps_helped")
