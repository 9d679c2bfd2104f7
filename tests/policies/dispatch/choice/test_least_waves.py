"""Least waves against its contract, and the place of the slots among a machine's resources (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.policies.dispatch.choice.together import NAMES, scenes, scored, told
from workbench.errors import InputError
from workbench.machine import Machine
from workbench.policies.dispatch.choice import LeastWaves
from workbench.policies.dispatch.choice.contract import ChoiceContract


class TestLeastWaves(ChoiceContract):
    policy = LeastWaves()


class TestShortestQueue(ChoiceContract):
    policy = LeastWaves(load="workgroups")


class TestWithoutScalarRegisters(ChoiceContract):
    policy = LeastWaves()
    names = ("vgpr", "waves", "workgroups")


@given(scenes, st.sampled_from(["waves", "workgroups"]))
def test_scores_minus_what_runs(shown, load):
    at = NAMES.index(load)
    running = [shown.totals.tolist()[at] - module["free"][at] for module in told(shown)]
    assert scored(LeastWaves(load=load), shown) == [-waves for waves in running]


def test_finds_the_slots_on_machines_that_lack_a_resource():
    for machine in (Machine(), Machine(sgprs_a_unit=0)):
        names = [resource.label for resource in machine.resources()]
        full, empty = [9] * len(names), [0] * len(names)
        empty[names.index("waves")] = 8
        rows = [full[:], empty]
        rows[0][names.index("waves")] = 7
        assert LeastWaves().choose(rows, names=names, totals=[10] * len(names)) == 1


def test_a_machine_without_slots_is_refused():
    with pytest.raises(
        InputError, match=r"a\.yaml: choice counts waves, which this machine has no slots of; it has vgpr\."
    ):
        LeastWaves().check_resources(["vgpr"], "choice", "a.yaml")


def test_one_that_was_not_bound_does_not_count_something_else():
    with pytest.raises(
        InputError, match=r"least_waves\.load_at must be the place of waves among vgpr, waves.* Nearest: 1\."
    ):
        LeastWaves().check_resources(["vgpr", "waves"])
    LeastWaves().bound(["vgpr", "waves"]).check_resources(["vgpr", "waves"])
