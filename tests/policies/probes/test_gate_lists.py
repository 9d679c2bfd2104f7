"""The gate lists report what the probes report: every state of small resources, every form (spec 3, R30-R50)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tests.oracles import probes as slow
from tests.policies.probes.test_exact_run import FORMS
from workbench.errors import InputError
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    PrefixSuffixTree,
    ShiftDoubling,
)
from workbench.policies.probes.question import Probe
from workbench.policies.probes.shift_probe import SampledRun

LENGTHS = (1, 2, 5)
PROBES = {
    ExactRun: ({}, slow.longest_run),
    GroupedRun: ({"groups": 4}, lambda free: slow.grouped_run(free, 4)),
    SampledRun: ({"run_lengths": LENGTHS}, lambda free: slow.sampled_run(free, LENGTHS)),
    GroupedSampledRun: (
        {"groups": 4, "run_lengths": (1, 3)},
        lambda free: slow.grouped_sampled_run(free, 4, (1, 3)),
    ),
}
RIVALS = [
    BitSerial(),
    ShiftDoubling(),
    ShiftDoubling(timing="step_a_cycle"),
    PrefixSuffixTree(),
    PrefixSuffixTree(timing="step_a_cycle"),
]


def reports(probe: Probe, blocks: int, encoding: str = "free1") -> list[int]:
    states = np.array(list(product((False, True), repeat=blocks))).T
    return probe.gate_list(blocks).reports(states if encoding == "free1" else ~states).tolist()


def expected(twin, blocks: int) -> list[int]:
    return [twin(list(free)) for free in product((False, True), repeat=blocks)]


@pytest.mark.parametrize("chain", ["running", "doubling"])
@pytest.mark.parametrize("cls", PROBES, ids=lambda cls: cls.name)
def test_probes_by_shifting_in_every_form(cls, chain):
    levers, twin = PROBES[cls]
    right = expected(twin, 8)
    for form, timing in product(FORMS, cls.levers["timing"].choices):
        probe = cls(**levers, **form, timing=timing, chain=chain)
        assert reports(probe, 8, form["encoding"]) == right, probe


@pytest.mark.parametrize("blocks", [1, 2, 3, 5, 10])
@pytest.mark.parametrize("probe", [ExactRun(), ExactRun(chain="doubling", decode="scan"), *RIVALS], ids=Probe.short)
def test_exact_probes_and_rivals(probe, blocks):
    assert reports(probe, blocks) == expected(slow.longest_run, blocks)


@pytest.mark.parametrize(
    ("wrong", "cure"), [(0, " Nearest: 1."), (4097, " Nearest: 4096."), (True, ""), ("8", " Nearest: 8.")]
)
def test_numbers_of_blocks_that_there_are_not(wrong, cure):
    with pytest.raises(InputError) as refused:
        ExactRun().cost(wrong)
    assert str(refused.value) == f"blocks must be a whole number from 1 to 4096. Got {wrong!r}.{cure}"
