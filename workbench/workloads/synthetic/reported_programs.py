"""Programs of two open reports about PyTorch's allocator, small enough to see why it does what it does."""

from __future__ import annotations

from typing import Any, ClassVar

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.pool_requests import (
    ALLOC_TENSOR,
    COMPLETE_TENSOR,
    DEFER_TENSOR,
    FREE_TENSOR,
    TensorRequests,
    program_of,
)
from workbench.workloads.workload import Generator

_MIB = 1 << 20


class GrowingCycle(Generator):
    """Two blocks come and go in each cycle next to one that stays; a small one of each cycle stays behind them.

    The two that went are merged to 136.5 MiB. With `max_split_size` at or below that the merged block serves no
    smaller request, and what stays behind it keeps an expandable segment from growing there.

    References
    ----------
    pytorch/pytorch#123548: reserved memory grows from 220 to 14,060 MiB in 101 cycles.
    """

    random: ClassVar[bool] = False
    counted_by: ClassVar[str] = "cycles"
    cycles: int = lever(101, least=1, most=100_000, scale="log", description="how often the blocks come and go")
    first_bytes: int = lever(91 * _MIB, least=1, most=1 << 40, unit="bytes", description="the first block of a cycle")
    second_bytes: int = lever(91 * _MIB // 2, least=1, most=1 << 40, unit="bytes", description="the second one")
    kept_bytes: int = lever(
        2 * _MIB, least=0, most=1 << 40, unit="bytes", description="what stays of each cycle; 0 = nothing"
    )

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        rows = [(ALLOC_TENSOR, 0, 64 * _MIB)]
        for cycle in range(self.cycles):
            first = 1 + 3 * cycle
            rows += [(ALLOC_TENSOR, first, self.first_bytes), (ALLOC_TENSOR, first + 1, self.second_bytes)]
            rows += [(ALLOC_TENSOR, first + 2, self.kept_bytes)] if self.kept_bytes else []
            rows += [(FREE_TENSOR, first, 0), (FREE_TENSOR, first + 1, 0)]
        return program_of(rows)


class AwaitedBlock(Generator):
    """A block that a stream still uses would serve the next request, and the card has no space for another segment.

    The allocator waits for the stream, which frees the block, and asks the driver once more; it does not look for the
    block that it has just freed.

    References
    ----------
    pytorch/pytorch#189504: out of memory with a fitting block in the pool.
    """

    random: ClassVar[bool] = False
    counted_by: ClassVar[str] = "requests"
    requests: int = lever(1, least=1, most=10_000, scale="log", description="how often it happens")
    block_bytes: int = lever(20 * _MIB, least=10 * _MIB, most=1 << 40, unit="bytes", description="of each block")

    def tensor_requests(self, machine: Any, streams: Streams) -> TensorRequests:
        rows = [(ALLOC_TENSOR, 0, 2 * self.block_bytes), (FREE_TENSOR, 0, 0)]
        for number in range(self.requests):
            kept, awaited, requested = (1 + 3 * number + k for k in range(3))
            rows += [
                (ALLOC_TENSOR, kept, self.block_bytes),
                (ALLOC_TENSOR, awaited, self.block_bytes),
                (DEFER_TENSOR, awaited, 0),
            ]
            rows += [
                (ALLOC_TENSOR, requested, self.block_bytes),
                (COMPLETE_TENSOR, awaited, 0),
                (FREE_TENSOR, kept, 0),
                (FREE_TENSOR, requested, 0),
            ]
        return program_of(rows)
