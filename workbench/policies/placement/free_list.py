"""Allocators that keep account of their free regions: by size (TLSF, buddies) or by age (gem5, Vortex).

`SegregatedFit` is a good fit over classes of hole sizes, as in TLSF. `Buddy` has aligned blocks of a power of two.
`UnsortedFreeList` is first fit in the order in which regions became free, the rule of gem5's vector registers.
`RingBuffer` gives out returned space in the order of the grants, the rule of Vortex.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from workbench.compiled import kernel, leading_zeros, trailing_zeros
from workbench.levers import lever
from workbench.policies.placement.question import Placement
from workbench.policies.placement.view import REFUSED, PlacementNotice, PlacementView
from workbench.structures.bitmaps import NOWHERE, first_start, is_free, next_taken, order_of, run_start, smallest_block

SUBCLASSES, OWN_CLASS = 0, 1
SKIP = 1
LAST_RESORT = 1 << 30
"""The rank of a hole in the request's own class, behind all others."""

NEWEST = 0
"""Memory: the age of the hole that was made last."""
AGE_OF = 1
"""Memory: from here on, for each segment, the age of the hole that begins there; later holes have higher ages."""


@kernel
def _level(size: int) -> int:
    return 63 - leading_zeros(np.uint64(size))


@kernel
def _class_of(size: int, depth: int) -> int:
    """Return the class of a size: those below 2**depth have one each; every doubling above is cut into 2**depth
    classes."""
    if size < 1 << depth:
        return size
    scale = _level(size) - depth
    return (scale << depth) + (size >> scale)


@kernel
def _sure_class(length: int, depth: int) -> int:
    """Return the lowest class all of whose holes hold the length."""
    if length < 1 << depth:
        return length
    return _class_of(length + (1 << (_level(length) - depth)) - 1, depth)


@kernel
def _rank(size: int, sure: int, depth: int) -> int:
    size_class = _class_of(size, depth)
    return size_class if size_class >= sure else LAST_RESORT


class SegregatedFit(Placement):
    """Take the low end of a hole of the lowest class whose holes all suffice; of a class, the hole made last.

    Holes are sorted into classes by size: each power of two is cut into `subclasses`. A grant or a release makes a new
    hole, which goes to the head of its class. A hole of the request's own class may be too small, so TLSF passes that
    class over and refuses when there is no larger hole; with `own_class="search"` it is searched as a last resort, and
    nothing is refused that fits. Equal ages (as when a state is given) break to the lowest hole.

    References
    ----------
    spec 1, section 7; M. Masmano and others, "TLSF: a New Dynamic Memory Allocator for Real-Time Systems", ECRTS 2004.

    Examples
    --------
    >>> SegregatedFit(subclasses=4).place("0111110111111011", 5)
    1
    >>> exact = "1111111110000000"
    >>> SegregatedFit(subclasses=4).place(exact, 9), SegregatedFit(subclasses=4, own_class="skip").place(exact, 9)
    (0, None)
    """

    subclasses: int = lever(
        16,
        least=1,
        most=64,
        scale="power_of_two",
        unit="classes",
        description="into how many classes each doubling is cut",
    )
    own_class: Literal["search", "skip"] = lever(
        "search", description="whether holes of the request's own class are tried when no larger one is left"
    )

    @staticmethod
    def answer(see: PlacementView) -> int:
        depth = trailing_zeros(np.uint64(see.levers.subclasses))
        sure = _sure_class(see.length, depth)
        best, best_rank = REFUSED, LAST_RESORT + (see.levers.own_class != SKIP)
        start = first_start(see.free, see.length, 0)
        while start != NOWHERE:
            end = next_taken(see.free, start)
            rank = _rank(end - start, sure, depth)
            newer = best != REFUSED and rank == best_rank and see.memory[AGE_OF + start] > see.memory[AGE_OF + best]
            if rank < best_rank or newer:
                best, best_rank = start, rank
            start = first_start(see.free, see.length, end)
        return best

    @staticmethod
    def granted(see: PlacementNotice) -> None:
        see.memory[NEWEST] += 1
        see.memory[AGE_OF + see.start + see.length] = see.memory[NEWEST]

    @staticmethod
    def released(see: PlacementNotice) -> None:
        see.memory[NEWEST] += 1
        see.memory[AGE_OF + run_start(see.free, see.start)] = see.memory[NEWEST]

    def start_memory(self, segments: int, seed: int) -> np.ndarray:
        """Return one hole, of age 0: int64[segments + 2]."""
        return np.zeros(AGE_OF + segments + 1, np.int64)

    def work_conserving(self) -> bool:
        """Return True only where the request's own class is searched."""
        return self.own_class == "search"

    def serves_empty(self) -> bool:
        """Return the same as above: the whole memory may be a hole of the request's own class."""
        return self.own_class == "search"


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


PUSHED = 0
"""Memory: how many regions have been pushed to the back of the list so far."""
PLACE_OF = 1
"""Memory: from here on, for each segment, the place in the list of the free region that begins there."""


class UnsortedFreeList(Placement):
    """Take the low end of the first region in the list that is long enough; equal places break to the lowest.

    A region that becomes free next to others is merged with them. It keeps the place of its lower neighbor, else of its
    upper one; one without free neighbors goes to the back. What is left of a region after a grant keeps its place.
    Since regions are always merged, the list is the free map's runs in the order of the places kept here.

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

    A request that would cross the end wastes what is left there until its own workgroup is done. Space is reclaimed
    only in the order of the grants: a workgroup that has ended stays in the way while an older one runs. The oldest one
    still running is the first occupied segment from the tail on, so the free map and the tail say it all.

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
        """Return False: space is reclaimed in order, and the end of the memory is wasted at a wrap."""
        return False

    def serves_empty(self) -> bool:
        """Return True only where the tail goes back and a request may end at the end of the memory."""
        return self.at_end == "fits" and self.when_empty == "rewind"
