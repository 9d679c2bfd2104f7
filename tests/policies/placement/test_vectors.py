"""The specification's examples by number: V1-V11, the row table, every length of one state, D1-D12 (spec 1).

T1 is a test of the engine.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.policies.placement import FirstFit, LastFit, NearestBoundary
from workbench.policies.placement.circuit import cost, trace
from workbench.units import granule_bytes, kib

M = 123
FIG_1 = "".join("1" if 2 <= k <= 5 or 124 <= k <= 127 else "0" for k in range(128))
"""Fig.1 with M = 123: segments 0-1 and 6-123 occupied."""
V7 = "0111_1001_1111_1100"
ALL_ONES = "1" * 16


def state(segments: int, *free: int) -> str:
    """A state in which exactly these segments are free."""
    return "".join("1" if k in free else "0" for k in range(segments))


def window(segments: int, start: int, length: int) -> list[int]:
    return list(range(start, start + length))


def starts_of(text: str) -> list[int]:
    return [k for k, bit in enumerate(text) if bit == "1"]


def test_v1_granule():
    assert granule_bytes(kib(64), 128) == 512


def test_v2_first_fit_leaves_a_fragment():
    memory = FirstFit().allocator(128)
    assert memory.take(128) == 0
    lenient = FirstFit().allocator(128, release="lenient")
    lenient.take(128)
    lenient.give_back(2, 4)
    lenient.give_back(124, 4)
    assert lenient.free_map == FIG_1
    assert lenient.take(3) == 2
    assert lenient.free_map == state(128, 5, 124, 125, 126, 127)


def test_v3_release():
    memory = FirstFit().allocator(128, release="lenient")
    memory.take(128)
    memory.give_back(0, 2)
    assert memory.free_map == state(128, 0, 1)


def test_v4_start_map():
    starts = starts_of(NearestBoundary().start_map(FIG_1, 3))
    assert starts == [2, 3, 124, 125]


@pytest.mark.parametrize("middle", [10, 40, 122])
def test_v4_smaller_m_leaves_the_outermost_starts(middle):
    smaller = "".join("1" if 2 <= k <= 5 or k > middle else "0" for k in range(128))
    wires = trace(smaller, 3)
    assert (wires.i, wires.j) == (2, 125)


def test_v5_nearest_boundary():
    wires = trace(FIG_1, 3)
    assert (wires.i, wires.j, wires.low_distance, wires.high_distance) == (2, 125, 2, 0)
    assert wires.i + wires.j == 127 > 128 - 3
    assert wires.base == 125
    assert NearestBoundary().place(FIG_1, 3) == 125


@pytest.mark.parametrize(("m", "base"), [(1, 127), (2, 126), (4, 124)])
def test_v6_other_lengths(m, base):
    assert NearestBoundary().place(FIG_1, m) == base


def test_v7_start_map():
    assert NearestBoundary().start_map(V7, 4) == "0100000111100000"
    assert starts_of(trace(V7, 4).start_map) == [1, 7, 8, 9, 10]


def test_v8_choice():
    wires = trace(V7, 4)
    assert (wires.i, wires.j, wires.low_distance, wires.high_distance, wires.base) == (1, 10, 1, 2, 1)
    assert wires.i + wires.j == 11 <= 12
    assert wires.comparator


def test_v9_row_0():
    wires = trace(V7, 4)
    assert wires.window_masks[0] == "1111000000000000"
    assert "".join("10"[int(bit)] for bit in wires.window_masks[0]) == "0000111111111111"
    assert wires.or_rows[0] == "0111111111111111"
    assert wires.start_map[0] == "0"


def test_v10_row_1():
    wires = trace(V7, 4)
    assert wires.window_masks[1] == "0111100000000000"
    assert "".join("10"[int(bit)] for bit in wires.window_masks[1]) == "1000011111111111"
    assert wires.or_rows[1] == ALL_ONES
    assert wires.start_map[1] == "1"


V7_ROWS = [
    "0111_1111_1111_1111",
    ALL_ONES,
    "1111_1011_1111_1111",
    "1111_1001_1111_1111",
    "1111_1001_1111_1111",
    "1111_1001_1111_1111",
    "1111_1101_1111_1111",
    ALL_ONES,
    ALL_ONES,
    ALL_ONES,
    ALL_ONES,
    "1111_1111_1111_1101",
    "1111_1111_1111_1100",
]


def test_v7_row_table():
    wires = trace(V7, 4)
    assert list(wires.or_rows) == [row.replace("_", "") for row in V7_ROWS]
    assert [bit == "1" for bit in wires.start_map[:13]] == [row == ALL_ONES for row in wires.or_rows]
    assert wires.start_map[13:] == "000"


@pytest.mark.parametrize(
    ("m", "i", "j", "base"),
    [(1, 1, 13, 1), (2, 1, 12, 1), (3, 1, 11, 1), (4, 1, 10, 1), (5, 7, 9, 9), (6, 7, 8, 8), (7, 7, 7, 7)],
)
def test_same_state_every_m(m, i, j, base):
    wires = trace(V7, m)
    assert (wires.i, wires.j, wires.base) == (i, j, base)
    assert NearestBoundary().place(V7, m) == base


@pytest.mark.parametrize("m", range(8, 17))
def test_same_state_too_long(m):
    assert NearestBoundary().place(V7, m) is None
    assert not trace(V7, m).avail_en
    assert trace(V7, m).base is None


def test_v11_index_width():
    assert 2 ** len(trace(FIG_1, 3).llop) - 1 == 127
    counted = cost(128, lut_bits=8)
    assert counted.search_stages == 4 + 1
    assert counted.search_look_up_bits == 8


def test_d1_tie():
    free = state(16, *window(16, 1, 4), *window(16, 11, 4))
    wires = trace(free, 4)
    assert (wires.i, wires.j, wires.i + wires.j) == (1, 11, 12)
    assert NearestBoundary().place(free, 4) == 1
    assert NearestBoundary(tie="high").place(free, 4) == 11


def test_d2_distance_rule():
    free = state(16, *window(16, 5, 7))
    assert (trace(free, 4).i, trace(free, 4).j) == (5, 8)
    assert NearestBoundary(distance="window_edge").place(free, 4) == 8
    assert NearestBoundary(distance="start_bit").place(free, 4) == 5
    assert (trace(free, 4).high_distance, trace(free, 4, distance="start_bit").high_distance) == (4, 7)


def test_d3_distance_rule():
    assert NearestBoundary(distance="window_edge").place(FIG_1, 3) == 125
    assert NearestBoundary(distance="start_bit").place(FIG_1, 3) == 2
    assert trace(FIG_1, 3, distance="start_bit").high_distance == 2


def test_d4_illegal_rows():
    free = "0111_0000_0000_1111"
    assert NearestBoundary().start_map(free, 3) == "0100000000001100"
    assert NearestBoundary().place(free, 3) == 13
    assert len(trace(free, 3).window_masks) == 14


def test_d5_searches_the_start_map():
    free = "0100_0111_1111_0001"
    assert starts_of(NearestBoundary().start_map(free, 4)) == [5, 6, 7, 8]
    assert NearestBoundary().place(free, 4) == 8


def test_d6_empty_memory():
    wires = trace("1" * 16, 4)
    assert (wires.i, wires.j, wires.base) == (0, 12, 0)
    assert NearestBoundary().place("1" * 16, 4) == 0


def test_d7_whole_memory():
    for policy in (NearestBoundary(), FirstFit(), LastFit()):
        assert policy.place("1" * 16, 16) == 0


def test_d8_raw_search_bits():
    wires = trace(FIG_1, 3)
    assert wires.llop == "0000010"
    assert wires.mlop_raw == "0000010"
    assert wires.j == 127 - int(wires.mlop_raw, 2) == 125


def test_d9_raw_bits_need_their_own_comparator():
    wires = trace(FIG_1, 3)
    raw = int(wires.mlop_raw, 2)
    assert wires.i + raw == 4 <= 125  # read as j, the raw bits would grant 2
    assert wires.raw_comparator is (wires.i <= raw - (3 - 1)) is False
    assert wires.base == 125


def test_d10_release_first():
    memory = NearestBoundary().allocator(8, release="lenient")
    memory.take(8)
    memory.give_back(0, 2)
    memory.give_back(6, 2)
    assert memory.free_map == "11000011"
    assert memory.take(4) is None  # allocate first: waits
    memory.give_back(2, 2)
    assert memory.free_map == "11110011"
    assert memory.take(4) == 0


def test_d11_dual_encoding():
    dual = "1000_0110_0000_0011"
    for probe in ("shift_and", "mask_or_and", "window_and"):
        policy = NearestBoundary(encoding="free0", probe=probe)
        assert policy.start_map(dual, 4) == "0100000111100000"
        assert policy.place(dual, 4) == 1
    assert trace(dual, 4, encoding="free0")._replace(or_rows=()) == trace(V7, 4)._replace(or_rows=())


@given(st.lists(st.booleans(), min_size=2, max_size=64), st.data())
def test_d12_start_map_is_spec_3s_shift_and(free, data):
    m = data.draw(st.integers(1, len(free)))
    chain = list(free)
    for shift in range(1, m):  # S[shift]: toward lower positions, the vacated ones occupied (spec 3, R31-R32)
        shifted = free[shift:] + [False] * shift
        chain = [a and b for a, b in zip(chain, shifted, strict=True)]
    assert NearestBoundary().start_map(free, m) == "".join("01"[bit] for bit in chain)
    assert ("1" in NearestBoundary().start_map(free, m)) == any(chain)
