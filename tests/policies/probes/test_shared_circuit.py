"""The parts of the shared probe: packing, masks, chain, reductions, look-up, gate list (spec 3, R51-R59, V17-V24)."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import shared_probe as twin
from tests.slow import examples
from workbench.errors import InputError
from workbench.policies.probes.shared_gates import fields, loads, pack, trace
from workbench.policies.probes.shared_netlist import shared_cost, shared_netlist

TYPES = [128, 64, 48]
LOW, HIGH = "0" * 60 + "1111", "111" + "0" * 45
"""V21: the top four blocks of the low half, the lowest three of the high half."""
WORKING = ("every_shift", "first_crossing")

resources = st.lists(st.lists(st.booleans(), min_size=2, max_size=12), min_size=1, max_size=4)
forms = {
    "direction": st.sampled_from(["right", "left"]),
    "encoding": st.sampled_from(["free1", "free0"]),
    "masks": st.sampled_from(WORKING),
}


def zeros(number: str, width: int = 128) -> list[int]:
    return [k for k in range(width) if not int(number, 16) >> k & 1]


def test_v17_periods():
    assert pack(TYPES, 128).tolist() == [0, 1, 1]
    assert loads([0, 1, 1], TYPES) == [128, 112]


def masks_of(direction: str, masks: str = "every_shift") -> tuple[str, ...]:
    """Return the masks of two resources of 64 and 48 blocks, one a shift."""
    return trace(["1" * 64, "1" * 48], direction=direction, masks=masks).masks


def test_v18_and_v19_masks_of_right_shifts():
    masks = masks_of("right")
    assert masks[0] == "0x" + "f" * 32
    assert masks[1] == "0xffffffffffffffff7fffffffffffffff"
    assert masks[2] == "0xffffffffffffffff3fffffffffffffff"
    assert masks[64] == "0xffffffffffffffff0000000000000000"
    for by in range(1, 128):
        assert zeros(masks[by]) == list(range(max(64 - by, 0), 64))


def test_v20_masks_of_left_shifts():
    for by, mask in enumerate(masks_of("left")):
        assert zeros(mask) == list(range(64, min(64 + by, 128)))


@pytest.mark.parametrize("direction", ["right", "left"])
def test_first_crossings_need_one_zero_a_position(direction):
    every, first = ([set(zeros(mask)) for mask in masks_of(direction, form)[:65]] for form in WORKING)
    assert [zero for by in range(65) for zero in sorted(first[by])] == (
        list(range(63, -1, -1)) if direction == "right" else list(range(64, 128))
    )
    assert every == [set().union(*first[: by + 1]) for by in range(65)]  # once crossed, always crossed


@pytest.mark.parametrize("encoding", ["free1", "free0"])
def test_v21_halves_do_not_mix(encoding):
    for direction, mixed in (("right", (7, 3)), ("left", (4, 7))):
        for masks in WORKING:
            assert trace([LOW, HIGH], direction=direction, encoding=encoding, masks=masks).scanned == (4, 3)
        assert trace([LOW, HIGH], direction=direction, encoding=encoding, masks="none").scanned == mixed


def test_v22_bits_beyond_the_last_resource_are_occupied():
    assert int(trace(["1" * 64, "1" * 48]).loaded, 16) == 2**112 - 1
    assert int(trace(["1" * 64, "1" * 48], encoding="free0").loaded, 16) == 2**128 - 2**112


@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("encoding", ["free1", "free0"])
def test_v23_one_resource_uses_both_halves(direction, encoding):
    state = "".join("1" if 54 <= k <= 73 else "0" for k in range(128))
    wires = trace([state], direction=direction, encoding=encoding)
    assert wires.scanned == (20,)
    assert wires.sequences[0] == "1" * 20 + "0" * 108
    low, high = wires.low_half.count("1"), wires.high_half.count("1")
    assert (low, high) == ((20, 10) if direction == "right" else (10, 20))
    either = "".join("1" if "1" in pair else "0" for pair in zip(wires.low_half, wires.high_half))
    assert either == wires.sequences[0]


def test_v24_padding():
    for encoding, run in (("free1", 3), ("free0", 8)):  # "occupied" is 0 in free1, which is the right padding
        wires = trace(["1110", "0000"], 8, encoding=encoding, padding="occupied")
        assert (wires.scanned[0], wires.looked_up[0]) == (3, run)
        assert wires.codes[0] == ("11100000" if run == 3 else "11101111")


@examples(20, 300)
@given(resources, st.integers(0, 20), st.fixed_dictionaries(forms))
def test_r56_every_resource_as_if_alone(states, spare, chosen):
    width, taken_is_one = sum(map(len, states)) + spare, chosen["encoding"] == "free0"
    wires = trace(states, width, **chosen)
    assert int(wires.loaded, 16) == twin.number(twin.word(states, width, taken_is_one))
    assert wires.sequences == tuple(twin.sequence(state) for state in states)
    runs = tuple(twin.sequence(state).count("1") for state in states)
    assert wires.scanned == wires.looked_up == runs
    assert all(len(code) == width and code.rstrip("0") == "1" * run for code, run in zip(wires.codes, runs))


@examples(13, 200)
@given(resources, st.booleans(), st.booleans())
def test_r56_the_whole_chain_of_every_resource(states, left, taken_is_one):
    width = sum(map(len, states))
    wires = trace(states, width, direction="left" if left else "right", encoding="free0" if taken_is_one else "free1")
    first = 0
    for state in states:
        for by, expected in enumerate(twin.chain(state, left)):
            row = int(wires.prefixes[by], 16) >> first & (2 ** len(state) - 1)
            flags = [not bit for bit in expected] if taken_is_one else expected
            assert row == twin.number(flags)
        first += len(state)


def test_every_state_of_two_small_resources():
    for low, high in itertools.product(itertools.product("01", repeat=3), itertools.product("01", repeat=4)):
        both = ["".join(low), "".join(high)]
        expected = tuple(max(map(len, one.split("0"))) for one in both)
        for masks, direction in itertools.product(WORKING, ("right", "left")):
            assert trace(both, 8, direction=direction, masks=masks).scanned == expected


def test_something_to_load_and_room_for_it():
    with pytest.raises(InputError, match=r"^a period must have at least one free map. Got \[\]\.$"):
        trace([])
    with pytest.raises(InputError, match=r"must be at least the 176 blocks of one period\. Got 128\. Nearest: 176\."):
        trace(["1" * 128, "1" * 48])


@given(st.lists(st.integers(1, 128), min_size=1, max_size=12), st.integers(128, 200))
def test_r51_packing(blocks, width):
    period = pack(blocks, width).tolist()
    assert loads(period, blocks) == [sum(one) for one in twin.packed(blocks, width)]
    assert set(period) == set(range(max(period) + 1))
    assert max(loads(period, blocks)) <= width


def test_fields_reach_to_the_end_of_the_word():
    assert fields([5, 3], 16).tolist() == [0, 5, 16]
    assert fields([16], 16).tolist() == [0, 16]


@pytest.mark.parametrize("masks", WORKING)
@pytest.mark.parametrize("period", [(0, 1, 1), (0, 0, 0), (2, 1, 0), (1, 0, 1)])
def test_the_counted_gates_do_what_they_should(period, masks):
    blocks, width, draw = [6, 4, 3], 13, np.random.default_rng(3)
    built = shared_netlist(period, blocks, width, masks)
    states = draw.random((13, 200)) < 0.8
    for now in range(max(period) + 1):
        wires = np.zeros((max(period) + 1, 200), bool)
        wires[now] = True
        values = built.circuit.values(np.vstack([states, wires]))
        for k, (first, size) in enumerate(zip((0, 6, 10), blocks)):
            if period[k] == now:
                expected = [twin.sequence(state.tolist()) for state in states[first : first + size].T]
                got = ["".join("01"[int(bit)] for bit in code) for code in values[built.sequences[k]].T]
                assert got == expected


def test_h3_12_gates_saved():
    cost = shared_cost([0, 1, 1], TYPES, 128)
    assert (cost.chain_gates, cost.separate_chain_gates) == (8_128, 8_128 + 2_016 + 1_128)
    assert round(100 * cost.saved, 1) == 27.9
    assert cost.periods == 2
    assert (cost.reduction_gates, cost.separate_reduction_gates) == (8_128, 11_272)


@pytest.mark.slow
def test_the_masks_of_every_shift_cost_more_than_sharing_saves():
    every, first, none = (shared_cost([0, 1, 1], TYPES, 128, form) for form in (*WORKING, "none"))
    assert (every.mask_gates, first.mask_gates, none.mask_gates) == (64 * 64, 64, 0)
    assert every.saved_with_masks < 0 < first.saved_with_masks < first.saved == every.saved
    assert every.load_gates == 3 * 112 + 16  # two ANDs and an OR where both periods have a bit, an AND where one has


def test_nothing_is_saved_where_all_are_side_by_side():
    cost = shared_cost([0, 0], [64, 48], 112)
    assert (cost.chain_gates, cost.mask_gates, cost.load_gates) == (2_016 + 1_128, 0, 0)
    assert cost.saved == cost.saved_in_all == 0
