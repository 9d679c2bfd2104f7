"""The programme, drawing at random and all states written out: three ways to the same chances."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.oracles import probe_chance as twin
from workbench.compiled import INTERPRETED
from workbench.errors import InputError, PolicyError
from workbench.explain.probe_success import (
    Setting,
    failure,
    lost_dispatches,
    mean_report,
    packed_rows,
    simulated,
    under_report,
)
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    PrefixSuffixTree,
    Probe,
    SampledRun,
    SharedRun,
    ShiftDoubling,
    reports,
)

BLOCKS = 12
SAMPLES = (1, 2, 4, 8)
KNOWN: dict[Probe, Any] = {
    ExactRun(): twin.longest,
    ShiftDoubling(): twin.longest,
    PrefixSuffixTree(): twin.longest,
    BitSerial(): twin.longest,
    SharedRun(width=64): twin.longest,
    GroupedRun(groups=4): lambda bits: twin.longest_of_groups(bits, 4),
    GroupedRun(groups=6): lambda bits: twin.longest_of_groups(bits, 6),
    SampledRun(run_lengths=SAMPLES): lambda bits: twin.largest_sample(bits, SAMPLES),
    GroupedSampledRun(groups=6, run_lengths=(1, 2, 4)): lambda bits: max(
        (2 * n for n in (1, 2, 4) if 2 * n <= twin.longest_of_groups(bits, 6)), default=0
    ),
}
STATES = np.array([*itertools.product((False, True), repeat=BLOCKS)])
MACHINES = 20 if INTERPRETED else 200


@pytest.mark.parametrize("probe", KNOWN, ids=lambda probe: probe.short())
def test_equals_all_states(probe):
    weight = [Fraction(1, 3) ** int(k) * Fraction(2, 3) ** (BLOCKS - int(k)) for k in STATES.sum(axis=1)]
    messages = [KNOWN[probe](tuple(state)) for state in STATES.tolist()]
    for demand in range(1, BLOCKS + 1):
        unit = sum((w for w, report in zip(weight, messages) if report < demand), Fraction(0))
        result = failure(probe, demand, Setting(blocks=BLOCKS, free=1 / 3, units=2, modules=3))
        expected = (unit, *twin.chain(unit, 2, 3))
        assert [level.failure for level in result] == pytest.approx([float(one) for one in expected], rel=1e-12)
        assert [level.success for level in result] == pytest.approx([float(1 - one) for one in expected], rel=1e-11)


@pytest.mark.parametrize("probe", KNOWN, ids=lambda probe: probe.short())
def test_equals_what_the_compiled_answer_says_of_all_states(probe):
    result = reports(probe, packed_rows(STATES), BLOCKS)
    assert result.tolist() == [KNOWN[probe](tuple(state)) for state in STATES.tolist()]
    for demand in (1, 3, 4, 5, 8):
        exact = failure(probe, demand, Setting(blocks=BLOCKS)).unit.failure
        assert (result < demand).mean() == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize("free", [0.5, 0.4])
@pytest.mark.parametrize("probe", [GroupedRun(groups=32), ExactRun(), SampledRun()], ids=lambda probe: probe.name)
def test_drawing_agrees_with_the_programme(probe, free):
    setting, demands = Setting(free=free), [1, 4, 5, 6, 8]
    drawn = simulated(probe, demands, setting, machines=MACHINES, seed=1, level=0.9999)
    for demand, shares in zip(demands, drawn):
        for share, exact in zip(shares, failure(probe, demand, setting)):
            assert share.low <= exact.failure <= share.high
        assert (shares.unit.n, shares.module.n, shares.machine.n) == (64 * MACHINES, 16 * MACHINES, MACHINES)


def test_drawing_notices_another_chance():
    share = simulated(GroupedRun(groups=32), [4], Setting(free=0.52), machines=MACHINES, seed=1, level=0.9999)[0]
    assert share.unit.high < failure(GroupedRun(groups=32), 4).unit.failure


def test_drawing_counts_by_hand():
    setting, probe = Setting(blocks=8, free=0.7, units=2, modules=3), ExactRun()
    result = simulated(probe, [3], setting, machines=40, seed=5)[0]
    from workbench.streams import Streams

    bits = Streams(5)["free_blocks"].random((240, 8)) < 0.7
    refused = np.array([twin.longest(tuple(state)) < 3 for state in bits.tolist()]).reshape(40, 3, 2)
    modules = [[any(units) for units in machine] for machine in refused.tolist()]
    assert result.unit.mean == refused.mean()
    assert result.module.mean == np.mean(modules)
    assert result.machine.mean == np.mean([all(machine) for machine in modules])


def test_the_same_states_in_batches_of_any_size(monkeypatch):
    import workbench.explain.probe_success as module

    whole = simulated(ExactRun(), [4], machines=3)
    monkeypatch.setattr(module, "_BLOCKS_AT_ONCE", 128 * 7)
    assert simulated(ExactRun(), [4], machines=3) == whole


def test_any_probe_can_be_drawn_but_only_known_rules_are_computed():
    class EveryOther(Probe):
        def answer(see):
            return see.blocks // 2

    assert simulated(EveryOther(), [64, 65], machines=1)[0].unit.mean == 0
    assert simulated(EveryOther(), [65], machines=1)[0].machine.mean == 1
    with pytest.raises(InputError, match=r"^the rule of every_other is not known here; simulated\(\) asks it about"):
        failure(EveryOther(), 4)
    padding = SharedRun(padding="occupied", encoding="free0", width=256)
    with pytest.raises(InputError, match="the rule of shared_run"):
        failure(padding, 4)


def test_a_probe_that_raises_is_named():
    class Broken(Probe):
        def answer(see):
            return see.blocks // (see.blocks - see.blocks)

    with pytest.raises(PolicyError, match="broken raised in state 0 of 64"):
        simulated(Broken(), [4], machines=1)


@pytest.mark.parametrize("probe", KNOWN, ids=lambda probe: probe.short())
def test_mean_report_equals_all_states(probe):
    mean = np.mean([KNOWN[probe](tuple(state)) for state in STATES.tolist()])
    short = np.mean([twin.longest(tuple(state)) for state in STATES.tolist()]) - mean
    assert mean_report(probe, Setting(blocks=BLOCKS)) == pytest.approx(mean, rel=1e-12)
    assert under_report(probe, Setting(blocks=BLOCKS)) == pytest.approx(short, rel=1e-11, abs=1e-12)


def test_lost_dispatches_by_hand():
    grouped, exact = GroupedRun(groups=32), ExactRun()
    by_hand = [failure(grouped, d).machine.failure - failure(exact, d).machine.failure for d in (4, 5)]
    assert lost_dispatches(grouped, [4, 5]) == pytest.approx(sum(by_hand) / 2)
    assert lost_dispatches(exact, [4, 5]) == 0


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"free": 0}, "free must be a probability above 0 and below 1. Got 0."),
        ({"free": 1.0}, "free must be a probability above 0 and below 1. Got 1.0."),
        ({"units": 0}, "units must be a whole number of at least 1. Got 0. Nearest: 1."),
        ({"modules": 1.5}, "modules must be a whole number of at least 1. Got 1.5."),
        ({"blocks": 126}, "grouped_run.groups must divide the 126 blocks. Got 32."),
    ],
)
def test_machines_that_there_are_not(changed, sentence):
    for ask in (failure, lambda probe, demand, setting: simulated(probe, [demand], setting, machines=1)):
        with pytest.raises(InputError) as refused:
            ask(GroupedRun(groups=32), 4, Setting()._replace(**changed))
        assert str(refused.value).startswith(sentence)


def test_demands_and_machines_that_there_are_not():
    for demand in (0, 129, 1.5, True):
        with pytest.raises(InputError, match="demand must be a whole number from 1 to 128"):
            failure(ExactRun(), demand)
    with pytest.raises(InputError, match=r"machines must be a whole number of at least 1\. Got 0\. Nearest: 1\."):
        simulated(ExactRun(), [4], machines=0)
