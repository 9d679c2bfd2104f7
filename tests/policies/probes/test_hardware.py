"""What the probes cost: the figures of spec 3 (section 4), counted on the gates, and the rivals beside them."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.gates import AND, OR, Netlist
from workbench.policies.probes import (
    BitSerial,
    ExactRun,
    GroupedRun,
    GroupedSampledRun,
    Probe,
    ProbeCost,
    SampledRun,
    ShiftDoubling,
)
from workbench.policies.probes.gate_list import GateList


def gates(probe: Probe, blocks: int) -> tuple[int, int]:
    cost = probe.cost(blocks)
    return cost.and_gates, cost.or_gates


@pytest.mark.slow
@pytest.mark.parametrize("probe", [ExactRun(), ExactRun(timing="pipe_3cycle"), GroupedRun(groups=32), BitSerial()])
def test_cycles_of_many_blocks_are_those_of_a_round(probe):
    """The contract counts the gates of small resources alone."""
    assert probe.cost(1824).cycles == probe.round_cycles([1824])


def test_exact_probe_of_128_blocks():
    assert gates(ExactRun(), 128) == (8128, 8128)
    assert 127 * 128 == 16256  # what the chain would take untrimmed
    assert gates(ExactRun(chain="doubling"), 128) == (8128, 8128)


def test_grouped_probe_of_128_blocks():
    assert gates(GroupedRun(groups=32), 128) == (96 + 496, 496)
    ours, exact = GroupedRun(groups=32).cost(128), ExactRun().cost(128)
    share = (ours.and_gates + ours.or_gates) / (exact.and_gates + exact.or_gates)
    assert f"{share:.1%}" == "6.7%"


def test_sampled_probe_of_128_blocks():
    assert SampledRun().cost(128).and_gates == 1234
    assert len([row for row in SampledRun().gate_list(128).netlist.rows if row.kind == AND]) == 13
    running = SampledRun(chain="running").cost(128)
    assert running.and_gates == 8128  # the chain passes through every i
    assert running.or_gates == SampledRun().cost(128).or_gates < 8128


def test_three_probes_of_128_64_and_48_blocks():
    ands = [ExactRun().cost(blocks).and_gates for blocks in (128, 64, 48)]
    assert ands == [8128, 2016, 1128]
    assert sum(ands) == 11272
    assert f"{1 - 8128 / 11272:.1%}" == "27.9%"


@pytest.mark.parametrize("blocks", [*range(1, 13), 63, 64, 65, 100, 129])
def test_the_count_is_what_the_formula_says(blocks):
    """N - i gates for every shift i, and N - i - 1 for every reduction."""
    half = blocks * (blocks - 1) // 2
    assert gates(ExactRun(), blocks) == gates(ExactRun(chain="doubling"), blocks) == (half, half)
    assert gates(ExactRun(encoding="free0"), blocks) == (half, half)


def test_encodings_cost_the_same_but_for_an_inverter():
    """The NAND of a single wire is an inverter (R33)."""
    one, other = ExactRun(encoding="free1").cost(128), ExactRun(encoding="free0").cost(128)
    assert (one.inverters, other.inverters) == (0, 1)
    assert GroupedRun(encoding="free0").cost(128)[:2] == (496, 592)  # groups by OR (E27)


def test_decoding_is_counted_apart():
    """R34: a table of N + 1 rows of 8 bits; or a scan from the top, an AND, an inverter and an OR a bit."""
    table, scan = ExactRun(decode="lut").cost(128), ExactRun(decode="scan").cost(128)
    assert (table.look_up_bits, table.decode_gates) == (129 * 8, 0)
    assert scan.look_up_bits == 0
    assert scan.decode_gates > 3 * 126
    assert table[:3] == scan[:3]
    assert scan.depth > table.depth + 100


def test_r37_and_r38_timings_of_the_exact_probe():
    comb, pipe = ExactRun(timing="comb_1cycle").cost(128), ExactRun(timing="pipe_3cycle").cost(128)
    assert (comb.cycles, comb.registers) == (1, 0)
    assert (pipe.cycles, pipe.registers) == (3, 2 * 128 * 129 // 2)  # S and SA, their constant bits trimmed
    assert comb.and_gates == pipe.and_gates
    assert comb.depth == 127 + 1  # the chain, and the table; the last vector is one bit
    assert (comb.period, pipe.period) == (128 + 3, 127 + 3)


def test_h3_9_the_chain_decides_whether_three_cycles_raise_the_clock():
    running = [ExactRun(timing=timing).cost(128).relative_clock for timing in ("comb_1cycle", "pipe_3cycle")]
    doubled = [
        ExactRun(timing=timing, chain="doubling").cost(128).relative_clock for timing in ("comb_1cycle", "pipe_3cycle")
    ]
    assert running[1] / running[0] < 1.01
    assert doubled[1] / doubled[0] > 1.5
    assert doubled[0] > 7 * running[0]


def test_r43_three_cycles_on_the_same_hardware():
    apart = GroupedRun(timing="pipe_3cycle").cost(128)
    shared = GroupedRun(timing="pipe_3cycle_shared_hw").cost(128)
    assert (apart.and_gates, apart.or_gates, apart.registers, apart.selectors) == (592, 496, 2 * 528, 0)
    assert (shared.and_gates, shared.or_gates, shared.registers) == (496, 496, 528)
    assert shared.selectors == 2 * 96 + 528  # two inputs of each AND that groups first, and the registers
    assert apart.cycles == shared.cycles == 3
    assert shared.period == apart.period + 2


def test_grouped_and_sampled_together():
    grouped, sampled, both = (p.cost(128) for p in (GroupedRun(), SampledRun(), GroupedSampledRun()))
    assert both.gates < min(grouped.gates, sampled.gates)
    assert both.and_gates == 96 + sum(32 - k for k in (1, 2, 3, 5, 7, 11, 15, 23, 31))


def test_h3_8_cycles():
    assert [ExactRun(timing=t).cost(128).cycles for t in ("comb_1cycle", "pipe_3cycle")] == [1, 3]
    assert [BitSerial().cost(blocks).cycles for blocks in (64, 128)] == [64, 128]


def test_the_serial_scan_is_counted_once_for_all_cycles():
    """A counter and a maximum of 8 bits; the copied state, the run and the longest are held."""
    assert BitSerial().cost(128).registers == 128 + 2 * 8
    assert BitSerial().cost(128).gates < 200
    cost = BitSerial().cost(24)
    whole = BitSerial().gate_list(24).cost()  # every cycle as it is needed, folded where nothing can have been counted
    assert (cost.and_gates, cost.or_gates, cost.inverters) == (whole.and_gates, whole.or_gates, whole.inverters)


def test_rivals_are_smaller_than_the_exact_probe():
    exact = ExactRun().cost(128).gates
    assert BitSerial().cost(128).gates < ShiftDoubling().cost(128).gates < exact // 3


def test_largest_resource():
    assert gates(SampledRun(), 4096)[0] == sum(4096 - k + 1 for k in SampledRun().lengths(4096)[1:])


class WithoutModel(Probe):
    def answer(see):
        return 0


def test_a_probe_without_gates_says_so():
    with pytest.raises(InputError, match="without_model has no hardware model"):
        WithoutModel().cost(16)


def test_constants_cost_nothing():
    circuit = Netlist(3)
    a, b, c = circuit.inputs
    assert circuit.and_([a, a, a], [0, 1, a]).tolist() == [0, a, a]
    assert circuit.or_([a, a, a], [0, 1, a]).tolist() == [a, 1, a]
    assert circuit.not_([0, 1]).tolist() == [1, 0]
    assert circuit.all_of([a, 1, 1]).tolist() == [a]
    assert circuit.any_of([]).tolist() == [0]
    assert circuit.not_all_of([1, 1]).tolist() == [0]
    assert circuit.held([0, 1]).tolist() == [0, 1]
    assert not circuit.rows or all(row.out.size == 0 for row in circuit.rows)
    circuit.any_of([a, b, c])
    assert circuit.count(OR) == [2]
    assert circuit.depths == [2]


def test_figures_that_follow():
    cost = ProbeCost(10, 20, 3, 4, 64, 5, depth=12, cycles=3, period=10, selectors=2)
    assert (cost.gates, cost.latency, cost.relative_clock) == (43, 30, 2.0)


def test_gates_have_been_seen_wrong():
    """A list that computes something else reports something else."""
    right = ExactRun().gate_list(8)
    upside_down = GateList(right.netlist, right.report[::-1])
    states = np.array([[bit == "1"] for bit in "01101110"])
    assert right.reports(states).tolist() == [3]
    assert upside_down.reports(states).tolist() == [12]
