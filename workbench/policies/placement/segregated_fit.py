"""Segregated fit: constant-time good fit over classes of hole sizes, as in TLSF."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.compiled import kernel, leading_zeros, trailing_zeros
from workbench.levers import lever
from workbench.policies.placement.question import REFUSED, Placement
from workbench.policies.placement.view import PlacementNotice, PlacementView
from workbench.structures.bitmaps import NOWHERE, first_start, next_taken, run_start

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
