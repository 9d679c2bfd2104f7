"""The exact probe against its contract and its slow twin, in all its forms (spec 3, R30-R38)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import probes as slow
from tests.policies.probes.together import compare, compare_on_every_state, free_maps
from workbench.errors import InputError
from workbench.policies.probes import ExactRun
from workbench.policies.probes.contract import ProbeContract

FORMS = [
    {"direction": direction, "encoding": encoding, "decode": decode}
    for direction, encoding, decode in product(("right", "left"), ("free1", "free0"), ("lut", "scan"))
]
SMALL = (2, 3, 16, 64, 65, 129)


class TestExactRun(ProbeContract):
    policy = ExactRun()


class TestExactRunOfOccupiedBits(ProbeContract):
    policy = ExactRun(encoding="free0", timing="pipe_3cycle", chain="doubling")
    sizes = SMALL


@pytest.mark.parametrize("blocks", range(1, 13))
def test_every_state_of_small_resources(blocks):
    compare_on_every_state(ExactRun(), slow.longest_run, blocks)


@given(free_maps())
def test_reports_as_its_twin(free):
    compare(ExactRun(), slow.longest_run_by_text, free)


@given(free_maps(st.integers(2, 60)), st.sampled_from(FORMS))
def test_r31_to_r33_every_wire(free, form):
    """R33: bit i of SAR is 1 exactly where a free run of i + 1 blocks exists, in every form."""
    state = slow.written(free, form["encoding"])
    wires = ExactRun(**form).trace(state)
    shifts = slow.shifted(state, form["direction"], form["encoding"])
    chains = slow.chained(shifts, form["encoding"])
    run = slow.longest_run_by_text(free)
    assert wires.s == tuple(shifts)
    assert wires.sa == tuple(chains)
    assert wires.sar == slow.reduced(chains, form["encoding"]) == "1" * run + "0" * (len(free) - run)
    assert wires.f0 is None
    assert wires.longest == run


def test_no_form_changes_the_report():
    """It is that of whole words; the gates of each form are held against it (test_gate_lists)."""
    for form in FORMS:
        assert ExactRun(**form, timing="pipe_3cycle", chain="doubling").function() is ExactRun.answer


def test_the_third_timing_is_that_of_groups_alone():
    """R37, R38: hardware that three cycles share is stated for Em. 5 only."""
    with pytest.raises(InputError, match=r"exact_run\.timing must be one of comb_1cycle, pipe_3cycle\. Got"):
        ExactRun(timing="pipe_3cycle_shared_hw")
    assert ExactRun().round_cycles([128]) == 1
    assert ExactRun(timing="pipe_3cycle").round_cycles([128, 64]) == 3
