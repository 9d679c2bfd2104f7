"""Block aggregated: the same for a whole thread block, which first has to meet at a barrier."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.policies.malloc.serve.adjusting import MOST_ALIGN, next_power
from workbench.policies.malloc.serve.question import FreePolicy, OnFailure, Serve, tree_steps
from workbench.policies.malloc.serve.warp_aggregated import WarpAggregated


class BlockAggregated(Serve):
    """Ask once for all threads of a block; the first active one asks, so there is no tie to break.

    Offsets are those of `warp_aggregated` with the block in the place of the warp. Before it asks, the block meets at a
    barrier, whose steps are those of a tree over its warps.

    References
    ----------
    spec 2, section 7: one request per thread block, a larger unit that needs a barrier; R4: any group of threads that
    is scheduled together.

    Examples
    --------
    >>> BlockAggregated(block_size=4, min_alloc=1).offsets([5, 8, 9, 2, 7])
    [(24, [0, 5, 13, 22]), (7, [0])]
    """

    block_size: int = lever(256, least=1, most=1024, unit="threads", description="threads of a block")
    warp_size: int = lever(
        32, least=1, most=1024, unit="threads", description="threads of a warp, which barriers are over"
    )
    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")
    align: int = lever(
        0,
        least=0,
        most=MOST_ALIGN,
        scale="power_of_two",
        unit="bytes",
        description="pieces are rounded up to this power of two; 0: to min_alloc's",
    )
    failure_policy: OnFailure = lever("all_null", description="what becomes of a request that does not fit")
    free_policy: FreePolicy = lever("refcount", description="how pieces are given back")

    def function(self) -> Any:
        return WarpAggregated.answer

    def parameters(self) -> np.ndarray:
        """Return what the answer of `warp_aggregated` sees."""
        return np.array([self.min_alloc, self.align or next_power(self.min_alloc), 0, 0, 0], float)

    def unit(self) -> int:
        return self.block_size

    def scan_steps(self) -> int:
        return tree_steps(self.block_size)

    def barrier_steps(self) -> int:
        return 1 + tree_steps(-(-self.block_size // self.warp_size))

    def divides(self) -> bool:
        return True

    def on_failure(self) -> OnFailure:
        return self.failure_policy

    def frees(self) -> FreePolicy:
        return self.free_policy
