"""Ring buffer: grants follow each other around the memory and come back in the same order; the rule of Vortex."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.placement.question import REFUSED, Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import is_free, next_taken

AT_END, WHEN_EMPTY = 0, 1
WRAPS, KEEP = 1, 1

TAIL = 0
"""Memory: the segment after the last grant, where the next one begins."""
WASTED = 1
"""Memory: how many segments at the end the last wrap has left unused, for as long as segment 0 is occupied."""
WASTING = 2
"""Memory: what WASTED becomes if the latest answer is granted."""


class RingBuffer(Placement):
    """Grant at the tail of the ring, or at segment 0 where the end of the memory is too near; there are no ties.

    A request that would cross the end wastes what is left there until its own workgroup is done. Room is reclaimed
    only in the order of the grants: a workgroup that has ended stays in the way while an older one runs. The oldest
    one still running is the first occupied segment from the tail on, so the free map and the tail say it all.

    Vortex never rewinds the tail (`when_empty="keep"`): a request of more than half of the memory can then meet a tail
    that leaves too little on either side and wait for ever. Its simulator lets a request end exactly at the end of the
    memory, its hardware description wraps that one too (`at_end="wraps"`).

    References
    ----------
    Vortex, `sim/simx/cta_dispatcher.cpp` and `hw/rtl/core/VX_cta_dispatch.sv`.

    Examples
    --------
    >>> memory = RingBuffer().allocator(segments=16)
    >>> memory.take(6), memory.take(6), memory.give_back(0, 6), memory.take(5)
    (0, 6, None, 0)
    >>> memory.give_back(0, 5), memory.take(2)
    (None, None)
    """

    at_end: Literal["fits", "wraps"] = lever(
        "fits", description="what a request does that would end exactly at the end of the memory"
    )
    when_empty: Literal["rewind", "keep"] = lever(
        "rewind", description="whether the tail goes back to segment 0 when everything has been released"
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        tail, wasted = see.memory[TAIL], 0 if is_free(see.free, 0, 1) else see.memory[WASTED]
        clear, edge = next_taken(see.free, tail), see.segments - wasted
        see.memory[WASTING] = wasted
        if clear < edge or wasted:
            return tail if tail + see.length <= min(clear, edge) else REFUSED
        low = min(next_taken(see.free, 0), tail)  # free segments between the start of the memory and the tail
        if low == tail and see.levers.when_empty != KEEP:  # nothing is occupied
            tail = 0
        if tail + see.length < see.segments + (see.levers.at_end != WRAPS):
            return tail
        see.memory[WASTING] = see.segments - tail
        return 0 if see.length <= low else REFUSED

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[TAIL] = (see.start + see.length) % see.segments
        see.memory[WASTED] = see.memory[WASTING]

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return an empty ring: int64[3]."""
        return np.zeros(3, np.int64)

    def work_conserving(self) -> bool:
        """Return False: room is reclaimed in order, and the end of the memory is wasted at a wrap."""
        return False

    def serves_empty(self) -> bool:
        """Return True only where the tail goes back and a request may end at the end of the memory."""
        return self.at_end == "fits" and self.when_empty == "rewind"
