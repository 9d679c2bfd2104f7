"""The vectors V1 to V16 of spec 3, by number, and the edge cases beside them."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from workbench.errors import InputError
from workbench.gates import Netlist
from workbench.policies.probes import ExactRun, GroupedRun, SampledRun
from workbench.policies.probes.shift_gates import halves, trace
from workbench.policies.probes.shift_probe import primes, remaining, wrong_lengths

V6 = "0111_1001_1111_1100"
FORMS = list(product(("right", "left"), ("free1", "free0"), ("lut", "scan")))


def plain(*texts: str) -> tuple[str, ...]:
    return tuple(text.replace("_", "") for text in texts)


def every_form(state: str):
    """The exact probe in all its forms, each with the state in its encoding."""
    for direction, encoding, decode in FORMS:
        displayed = state if encoding == "free1" else state.translate(str.maketrans("01", "10"))
        yield ExactRun(direction=direction, encoding=encoding, decode=decode), displayed


def test_v1_and_of_two_sequences():
    circuit = Netlist(12)
    both = circuit.and_(circuit.inputs[:6], circuit.inputs[6:])
    bits = [[bit == "1"] for bit in "001001" + "101101"]
    assert "".join("01"[int(bit)] for bit in circuit.values(np.array(bits))[both, 0]) == "001001"


def test_v2_right():
    wires = ExactRun(direction="right", encoding="free1").trace("0110_1110")
    assert wires.sa[:3] == plain("0110_1110", "0010_0110", "0000_0010")
    assert set(wires.sa[3:]) == {"00000000"}
    assert (wires.sar, wires.longest) == ("11100000", 3)


def test_v3_left():
    wires = ExactRun(direction="left", encoding="free1").trace("0110_1110")
    assert wires.sa[:3] == plain("0110_1110", "0100_1100", "0000_1000")
    assert set(wires.sa[3:]) == {"00000000"}
    assert (wires.sar, wires.longest) == ("11100000", 3)


def test_v4_right_of_occupied_bits():
    wires = ExactRun(direction="right", encoding="free0").trace("1001_0001")
    assert wires.sa[:3] == plain("1001_0001", "1101_1001", "1111_1101")
    assert set(wires.sa[3:]) == {"11111111"}
    assert (wires.sar, wires.longest) == ("11100000", 3)


def test_v5_left_of_occupied_bits():
    wires = ExactRun(direction="left", encoding="free0").trace("1001_0001")
    assert wires.sa[:3] == plain("1001_0001", "1011_0011", "1111_0111")
    assert set(wires.sa[3:]) == {"11111111"}
    assert (wires.sar, wires.longest) == ("11100000", 3)


def test_v2_to_v5_vacated_positions_are_occupied():
    """E15: what comes in is occupied, whichever way the state moves."""
    assert ExactRun(direction="right").trace("1111").s == ("1111", "0111", "0011", "0001")
    assert ExactRun(direction="left").trace("1111").s == ("1111", "1110", "1100", "1000")
    assert ExactRun(direction="right", encoding="free0").trace("0000").s == ("0000", "1000", "1100", "1110")


def test_v6_state_of_spec_1():
    for probe, state in every_form(V6):
        wires = probe.trace(state)
        assert (wires.sar, wires.longest, probe.longest(state)) == ("1111111000000000", 7, 7)


def test_v7_all_occupied_and_all_free():
    for probe, state in every_form("0" * 16):
        assert probe.longest(state) == 0
    for probe, state in every_form("1" * 16):
        assert probe.longest(state) == 16


@pytest.mark.parametrize("direction", ["right", pytest.param("left", marks=pytest.mark.slow)])
@pytest.mark.parametrize("encoding", ["free1", pytest.param("free0", marks=pytest.mark.slow)])
def test_v8_distinct_codes(direction, encoding):
    """R34: N + 1 legal codes."""
    probe = ExactRun(direction=direction, encoding=encoding)
    codes = {probe.trace(list(state)).sar for state in product((False, True), repeat=8)}
    assert codes == {"1" * run + "0" * (8 - run) for run in range(9)}
    assert len(codes) == 9


@pytest.mark.parametrize(
    ("state", "f0", "far", "x", "true"),
    [
        ("0111_1001_1111_1100", "0010", "1000", 4, 7),  # V9
        ("0111_1111_1000_0000", "0100", "1000", 4, 8),  # V10
        ("1111_0000_1111_1111", "1011", "1100", 8, 8),  # V11
        ("0001_1110_0000_0000", "0000", "0000", 0, 4),  # V12
    ],
)
def test_v9_to_v12_groups(state, f0, far, x, true):
    wires = GroupedRun(groups=4).trace(state)
    assert (wires.f0, wires.sar, wires.longest) == (f0, far, x)
    assert GroupedRun(groups=4).longest(state) == x
    assert ExactRun().longest(state) == true


def test_e27_group_bits_of_occupied_blocks():
    wires = GroupedRun(groups=4, encoding="free0").trace("1000_0110_0000_0011")
    assert (wires.f0, wires.sar, wires.longest) == ("1101", "1000", 4)


KS = (0, 1, 2, 3, 5, 7, 11, 15)


def test_v13_sampled_lengths():
    wires = SampledRun(run_lengths=tuple(k + 1 for k in KS)).trace(V6)
    assert (wires.sar, wires.longest) == ("11111000", 6)


@pytest.mark.parametrize(
    ("state", "report"),
    [("0111_1111_1000_0000", 8), ("0011_1111_1111_0000", 8), ("0000_0111_1000_0000", 4), ("0" * 16, 0)],
)
def test_v14_the_same_lengths(state, report):
    assert SampledRun(run_lengths=tuple(k + 1 for k in KS)).longest(state) == report


def test_v15_without_k_0():
    """A list without 1 cannot be built (E14); the circuit shows why: it misses a single free block."""
    with pytest.raises(InputError, match="must begin with 1"):
        SampledRun(run_lengths=(2, 4, 8, 16))
    one_free = np.arange(16) == 5
    assert trace(one_free, (1, 2, 4, 8, 16), SampledRun()._form()).longest == 1
    assert trace(one_free, (2, 4, 8, 16), SampledRun()._form()).longest == 0


def test_v16_legal_lengths_of_128_blocks():
    ks = (0, 1, 2, 3, 5, 7, 11, 15, 23, 31, 47, 63, 95, 127)
    steps = [b - a for a, b in pairwise(ks)]
    assert steps == [1, 1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32]
    assert SampledRun().lengths(128) == tuple(k + 1 for k in ks)
    assert wrong_lengths([k + 1 for k in ks]) == ""
    assert halves(SampledRun().lengths(128)) == list(ks[1:])


def test_em_6_exclusion_of_primes():
    ks = [k for k in range(128) if k in primes(127)]
    assert len(ks) == 31
    gone = {k + 1 for k in ks}
    assert gone >= {3, 4, 6, 8, 12, 14, 18, 20, 24, 30, 32, 128}
    assert {n for n in gone if n & (n - 1) == 0} == {4, 8, 32, 128}
    assert remaining(range(1, 17), primes(16), "k") == (1, 2, 5, 7, 9, 10, 11, 13, 15, 16)
    assert remaining(range(1, 17), primes(16), "size") == (1, 4, 6, 8, 9, 10, 12, 14, 15, 16)
    assert all(wrong_lengths(remaining(range(1, 17), primes(16), on)) for on in ("k", "size"))


def test_spec_8_the_probe_and_the_start_map_are_one_circuit():
    """SA[m-1] shifted toward lower indices is `start_map(m)` (section 8)."""
    from workbench.policies.placement import FirstFit

    wires = ExactRun(direction="left").trace(V6)
    assert [FirstFit().start_map(V6, m) for m in range(1, 17)] == list(wires.sa)
