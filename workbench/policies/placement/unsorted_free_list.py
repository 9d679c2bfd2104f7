"""Unsorted free list: first fit in the order in which regions became free; the rule of gem5's vector registers."""

from __future__ import annotations

import numpy as np

from workbench.policies.placement.question import REFUSED, Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import NOWHERE, first_start, is_free, next_taken

PUSHED = 0
"""Memory: how many regions have been pushed to the back of the list so far."""
PLACE_OF = 1
"""Memory: from here on, for each segment, the place in the list of the free region that begins there."""


class UnsortedFreeList(Placement):
    """Take the low end of the first region in the list that is long enough; equal places break to the lowest.

    A region that becomes free next to others is merged with them and keeps the place of its lower neighbour, else of
    its upper one; one without free neighbours goes to the back. What is left of a region after a grant keeps its
    place. Since regions are always merged, the list is the free map's runs in the order of the places kept here.

    References
    ----------
    gem5, `src/gpu-compute/dyn_pool_manager.cc`, `allocateRegion` and `freeRegion`.

    Examples
    --------
    >>> memory = UnsortedFreeList().allocator(segments=16)
    >>> _ = [memory.take(4) for _ in range(4)], memory.give_back(8, 4), memory.give_back(0, 4)
    >>> memory.take(2), memory.take(2), memory.take(2)
    (8, 10, 0)
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        best = REFUSED
        start = first_start(see.free, see.length, 0)
        while start != NOWHERE:
            if best == REFUSED or see.memory[PLACE_OF + start] < see.memory[PLACE_OF + best]:
                best = start
            start = first_start(see.free, see.length, next_taken(see.free, start))
        return best

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[PLACE_OF + see.start + see.length] = see.memory[PLACE_OF + see.start]

    @staticmethod
    def released(see: PlacementNotice) -> None:
        if see.start > 0 and is_free(see.free, see.start - 1, 1):
            return
        end = see.start + see.length
        if end < see.segments and is_free(see.free, end, 1):
            see.memory[PLACE_OF + see.start] = see.memory[PLACE_OF + end]
            return
        see.memory[PUSHED] += 1
        see.memory[PLACE_OF + see.start] = see.memory[PUSHED]

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return one region, at place 0: int64[segments + 2]."""
        return np.zeros(PLACE_OF + segments + 1, np.int64)
