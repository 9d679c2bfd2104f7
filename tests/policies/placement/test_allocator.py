"""The allocator in plain Python: grants, releases, and what it refuses (spec 1, R1-R6, R9, E1, E12)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.policies.placement.together import moves, segments
from workbench.errors import InputError
from workbench.policies.placement import (
    AlternateEnds,
    BestFit,
    Buddy,
    ByteCounter,
    Compaction,
    FirstFit,
    NearestBoundary,
    NextFit,
    RingBuffer,
    SegregatedFit,
    UnsortedFreeList,
)

CONTIGUOUS = [FirstFit(), NearestBoundary(), BestFit(), Buddy(), RingBuffer(), UnsortedFreeList(), SegregatedFit()]


@given(st.sampled_from(CONTIGUOUS), segments, moves)
def test_r1_to_r6_no_segment_is_granted_twice(policy, segments, moves):
    memory = policy.allocator(segments)
    live: list[tuple[int, int]] = []
    owner: list[tuple[int, int] | None] = [None] * segments
    for length, kind, which in moves:
        m = 1 + (length - 1) % segments
        if kind == "give back" and live:
            grant = live.pop(which % len(live))
            memory.give_back(*grant)
            owner = [None if one == grant else one for one in owner]
        elif policy.footprint(m, segments) <= segments:
            start = memory.take(m)
            if start is not None:
                taken = range(start, start + policy.footprint(m, segments))
                assert all(owner[k] is None for k in taken)
                for k in taken:
                    owner[k] = (start, m)
                live.append((start, m))
        assert memory.free_map == "".join("1" if one is None else "0" for one in owner)


@pytest.mark.parametrize("m", [0, -1, 17, True, 2.0, "3", None])
def test_e1_refuses_at_admission(m):
    with pytest.raises(InputError, match="length must be a whole number from 1 to 16"):
        FirstFit().allocator(16).take(m)


def test_e1_accepts_the_whole_memory():
    memory = FirstFit().allocator(16)
    assert memory.take(16) == 0
    assert memory.take(1) is None


def test_e1_refuses_what_a_policy_rounds_above_the_memory():
    with pytest.raises(InputError, match="buddy serves 70 segments with 128, more than the 100 there are"):
        Buddy().allocator(100).take(70)


@pytest.mark.parametrize(("start", "length"), [(0, 2), (1, 3), (0, 8), (4, 4), (3, 5), (8, 1)])
def test_e12_strict_releases_equal_a_live_grant(start, length):
    memory = FirstFit().allocator(16)
    assert (memory.take(3), memory.take(4)) == (0, 3)
    before = memory.free_map
    with pytest.raises(InputError, match=r"is not a live grant; there are \[0, 3\), \[3, 7\)"):
        memory.give_back(start, length)
    assert memory.free_map == before


def test_e12_strict_refuses_a_double_release():
    memory = FirstFit().allocator(16)
    memory.take(3)
    memory.give_back(0, 3)
    with pytest.raises(InputError, match="there are none"):
        memory.give_back(0, 3)


@pytest.mark.parametrize(
    ("start", "length", "after"),
    [(0, 2, "1100000111111111"), (1, 4, "0111100111111111"), (0, 16, "1" * 16), (2, 9, "0011111111111111")],
)
def test_e12_lenient_frees_whatever_is_occupied(start, length, after):
    memory = FirstFit().allocator(16, release="lenient")
    assert (memory.take(3), memory.take(4)) == (0, 3)
    memory.give_back(start, length)
    memory.give_back(start, length)
    assert memory.free_map == after


@pytest.mark.parametrize("release", ["strict", "lenient"])
@pytest.mark.parametrize(("start", "length"), [(-1, 2), (15, 2), (0, 17), (0, 0), (16, 1), (3, -1)])
def test_r5_refuses_a_range_outside_of_the_memory(release, start, length):
    memory = FirstFit().allocator(16, release=release)
    memory.take(16)
    with pytest.raises(InputError, match="does not lie within the 16 segments"):
        memory.give_back(start, length)


@pytest.mark.parametrize("segments", [0, 1, 4097, -5, 2.5, True, "16"])
def test_refuses_a_memory_that_cannot_be(segments):
    with pytest.raises(InputError, match="segments must be a whole number from 2 to 4096"):
        FirstFit().allocator(segments)


def test_refuses_an_unknown_release_rule():
    with pytest.raises(InputError, match="release must be one of strict, lenient"):
        FirstFit().allocator(16, release="lax")


def test_refuses_a_policy_that_moves_live_ranges():
    with pytest.raises(InputError, match="compaction moves live ranges"):
        Compaction().allocator(16)


def test_tells_the_policy_of_grants_and_releases():
    assert [AlternateEnds().allocator(16).take(2)] == [0]
    memory = AlternateEnds().allocator(16)
    assert [memory.take(2), memory.take(2), memory.take(2)] == [0, 14, 2]
    onward = NextFit().allocator(16)
    assert [onward.take(2), onward.take(2)] == [0, 2]
    onward.give_back(0, 2)
    assert onward.take(2) == 4


def test_scattered_grants_come_back_whole():
    memory = ByteCounter().allocator(8)
    assert [memory.take(2), memory.take(2), memory.take(2)] == [0, 2, 4]
    memory.give_back(0, 2)
    memory.give_back(4, 2)
    assert memory.take(5) == 0
    assert memory.free_map == "00000001"
    memory.give_back(0, 5)
    assert memory.free_map == "11001111"
