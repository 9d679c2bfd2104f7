"""The rival: shift-AND doubling (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given

from tests.oracles import probes as slow
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from workbench.policies.probes import ShiftDoubling
from workbench.policies.probes.contract import ProbeContract


class TestShiftDoubling(ProbeContract):
    policy = ShiftDoubling()


@pytest.mark.parametrize("blocks", range(1, 12))
def test_every_state_of_small_resources(blocks):
    compare_on_every_state(ShiftDoubling(), slow.longest_run, blocks)


@given(free_maps())
def test_reports_as_its_twin(free):
    compare(ShiftDoubling(), slow.longest_run_by_text, free)


class TestShiftDoublingByStep(ProbeContract):
    policy = ShiftDoubling(timing="step_a_cycle")
    sizes = (2, 3, 16, 63, 64, 65, 127, 128, 129)


def test_the_steps_are_logarithmic():
    """Seven to double the windows of 128 blocks and eight to complete the length."""
    assert ShiftDoubling(timing="step_a_cycle").round_cycles([128, 64]) == 15
    assert ShiftDoubling().round_cycles([128]) == 1
