"""Buddy: aligned blocks of a power of two."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import PlacementView
from workbench.structures.bitmaps import order_of, smallest_block


class Buddy(Placement):
    """Split the smallest free block that is large enough; the lowest of equal blocks wins a tie.

    Requests are rounded up to a power of two, blocks are aligned to their size, and two free buddies are always joined:
    internal fragmentation is traded for external. Where the number of segments is no power of two, the memory is cut
    into the largest aligned blocks that lie wholly within it, and a request larger than the largest of them is not
    admitted. In hardware this takes one step for each of log2(N) block sizes.

    References
    ----------
    spec 1, section 7; D. Knuth, The Art of Computer Programming, volume 1, section 2.5.

    Examples
    --------
    >>> memory = Buddy().allocator(segments=16)
    >>> memory.take(3), memory.take(1), memory.take(5), memory.take(4)
    (0, 4, 8, None)
    >>> memory.free_map
    '0000011100000000'
    """

    @staticmethod
    def answer(see: PlacementView) -> int:
        return smallest_block(see.free, order_of(see.length))

    def footprint(self, length: Any, segments: int) -> Any:
        """Return the next power of two."""
        rounded = np.left_shift(np.int64(1), np.frexp(np.asarray(length) - 1)[1])
        return int(rounded) if np.ndim(length) == 0 else rounded

    def work_conserving(self) -> bool:
        """Return False: a free range that no free block covers is not used."""
        return False
