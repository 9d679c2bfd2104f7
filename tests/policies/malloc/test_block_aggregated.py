"""Block aggregated against its contract: warp aggregation over more threads, behind a barrier."""

from __future__ import annotations

from workbench.policies.malloc import BlockAggregated, WarpAggregated
from workbench.policies.malloc.serve import ServeContract


class TestBlockAggregated(ServeContract):
    policy = BlockAggregated(block_size=96)


def test_offsets_are_those_of_a_warp_as_large_as_the_block():
    sizes = list(range(1, 200))
    assert BlockAggregated(block_size=128).offsets(sizes) == WarpAggregated(warp_size=128).offsets(sizes)


def test_a_barrier_is_over_the_warps_of_the_block():
    assert [BlockAggregated(block_size=size).barrier_steps() for size in (32, 64, 256, 1024)] == [1, 2, 4, 6]
    assert BlockAggregated(block_size=256).scan_steps() == 8
