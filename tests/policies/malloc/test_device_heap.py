"""The heap that is tried out by hand: what it frees together, and misuse, which changes nothing."""

from __future__ import annotations

from functools import partial

import pytest

from tests.junk import refusal
from workbench.policies.malloc import DeviceHeap, PerThread, WarpAggregated
from workbench.policies.placement.question import Placement
from workbench.policies.policy import policies


def heap(serve=None, heap_bytes=64, **more):
    return DeviceHeap(serve or WarpAggregated(warp_size=4), heap_bytes, 4, base=4096, **more)


@pytest.mark.parametrize(
    ("frees", "left"), [("refcount", [16, 16, 16, 0]), ("piecewise", [12, 8, 4, 0]), ("arena", [16, 16, 16, 0])]
)
def test_free_policies(frees, left):
    """Spec 2, E3."""
    one = heap(WarpAggregated(warp_size=4, free_policy=frees))
    results = []
    for address in one.malloc([4] * 4):
        one.free(address)
        results.append(one.taken_bytes)
    assert results == left


def test_an_arena_goes_back_with_the_last_piece_of_its_warp():
    one = heap(WarpAggregated(warp_size=4, free_policy="arena"))
    first, second = one.malloc([4, 4]), one.malloc([4] * 8)
    for address in [*first, *second[:3]]:
        one.free(address)
    assert one.taken_bytes == 8 + 32
    one.free(second[3])
    assert one.taken_bytes == 16


@pytest.mark.parametrize(("failure", "served"), [("all_null", 0), ("per_thread_fallback", 4), ("halve_and_retry", 4)])
def test_failure_policies(failure, served):
    """Spec 2, E4: 8 + 8 bytes in two holes, and a warp that asks for 16."""
    one = heap(WarpAggregated(warp_size=4, failure_policy=failure), heap_bytes=24)
    low, middle, high = one.malloc([8])[0], one.malloc([8])[0], one.malloc([8])[0]
    one.free(low)
    one.free(high)
    assert sum(address is not None for address in one.malloc([4] * 4)) == served
    assert middle == 4096 + 8


@pytest.mark.parametrize("wrong", [4097, 0, -1, "x", None, 4104])
def test_an_address_never_granted_is_one_sentence_and_changes_nothing(wrong):
    one = heap()
    one.malloc([4, 4])
    before = one.free_map
    assert refusal(one.free, wrong).endswith("was never granted by this heap; nothing lives there.")
    assert one.free_map == before


def test_freed_twice_is_one_sentence_and_changes_nothing():
    one = heap(PerThread())
    address, _ = one.malloc([4, 4])
    one.free(address)
    before = one.free_map
    assert refusal(one.free, address) == "4096 was freed before; nothing lives there."
    assert one.free_map == before
    assert one.malloc([4]) == [4096]
    one.free(4096)


def test_wrong_byte_counts_change_nothing():
    one = heap()
    assert refusal(one.malloc, [4, -1]) == (
        "requests[1] must be a whole number of bytes from 0 to 2^40. Got -1. Nearest: 0."
    )
    assert one.taken_bytes == 0


def test_wrong_heaps_are_one_sentence():
    assert "granule_bytes must be a whole number from 1 to" in refusal(DeviceHeap, PerThread(), 64, 0)
    assert "heap_bytes must be a whole number from 4 to" in refusal(DeviceHeap, PerThread(), 0, 4)
    pieces = WarpAggregated(free_policy="piecewise", align=2)
    assert "align must be a multiple of the granule (16 bytes)" in refusal(DeviceHeap, pieces)


PLACEMENTS = [name for name, cls in policies("placement").items() if cls.built_in]
NO_RANGE, ROUNDING = {"byte_counter", "compaction", "paged_memory"}, {"buddy"}


@pytest.mark.parametrize("frees", ["refcount", "piecewise", "arena"])
@pytest.mark.parametrize("name", PLACEMENTS)
def test_every_placement_has_all_pieces_back_or_is_refused(name, frees):
    """Three pieces of a warp in the four granules of a buddy: piece by piece the fourth would stay taken for ever."""
    made = partial(heap, WarpAggregated(warp_size=4, free_policy=frees), placement=Placement.read(name))
    if name in NO_RANGE or (name in ROUNDING and frees == "piecewise"):
        assert " Nearest: " in refusal(made)
        return
    one = made()
    for address in one.malloc([4] * 3):
        one.free(address)
    assert one.taken_bytes == 0


def test_policies_that_do_not_go_together_are_one_sentence():
    buddy = Placement.read("buddy")
    message = refusal(heap, WarpAggregated(free_policy="piecewise"), placement=buddy)
    assert message.startswith("warp_aggregated.free_policy piecewise needs a heap that takes exactly the granules of a")
    assert message.endswith("Got bitmap_arena(placement=buddy). Nearest: bitmap_arena with first_fit.")
    message = refusal(heap, placement=Placement.read("paged_memory"))
    assert message.startswith(
        "bitmap_arena.placement must give each request one range with an address. Got paged_memory."
    )
