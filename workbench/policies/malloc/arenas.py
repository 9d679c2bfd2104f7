"""Which part of the heap serves a request? Each part has memory and a lock of its own."""

from __future__ import annotations

from typing import ClassVar

from workbench.levers import lever
from workbench.policies.policy import Policy

MOST_ARENAS = 4096
BY_WARP, BY_HASH, BY_SIZE = range(3)


class Arenas(Policy, abstract=True):
    """The base of every division of the heap into arenas of equal size."""

    question: ClassVar[str] = "arenas"
    by: ClassVar[int] = BY_WARP

    def count(self) -> int:
        """Return the number of arenas."""
        return 1

    def tries(self) -> int:
        """Return the number of arenas that a request tries, one after the other, before it fails."""
        return 1


class OneHeap(Arenas):
    """One heap under one lock: the document's. Nothing to choose, so no ties.

    References
    ----------
    spec 2, R15-R16.

    Examples
    --------
    >>> OneHeap().count()
    1
    """


class _Several(Arenas, abstract=True):
    arenas: int = lever(
        16, least=1, most=MOST_ARENAS, scale="log", unit="arenas", description="how many parts the heap has"
    )
    probes: int = lever(
        4,
        least=1,
        most=MOST_ARENAS,
        scale="log",
        unit="arenas",
        description="arenas that a request tries, its own first",
    )

    def count(self) -> int:
        return self.arenas

    def tries(self) -> int:
        return min(self.probes, self.arenas)


class WarpArenas(_Several):
    """Warp w asks arena w modulo their number, then the ones after it; two warps of one arena compete for its lock.

    References
    ----------
    spec 2, section 7: per-warp or per-SM private arenas; E. Berger and others, "Hoard: A Scalable Memory Allocator for
    Multithreaded Applications", ASPLOS 2000. What is equal for ties: warps of one arena, which its lock decides.

    Examples
    --------
    >>> WarpArenas(arenas=132, probes=200).tries()
    132
    """

    by = BY_WARP


class HashedArenas(_Several):
    """A hash of the warp and the size says which arena is asked first, then the ones after it; in a tie its lock.

    The hash is Knuth's multiplicative one of 7 warp + size, by 2,654,435,761, of which bits 16 and up count.

    References
    ----------
    spec 2, section 7: ScatterAlloc, hashed pages; Halloc, hashed slabs.

    Examples
    --------
    >>> HashedArenas(arenas=64).count()
    64
    """

    by = BY_HASH


class SizeArenas(_Several):
    """An arena for each power of two of the granules of a block, the last for all above; in a tie its lock decides.

    Arena 0 serves blocks of one granule, arena k those of more than 2^(k-1) and at most 2^k, headers included.

    References
    ----------
    spec 2, section 7: Ouroboros, a queue for each page size.

    Examples
    --------
    >>> SizeArenas(arenas=8, probes=1).tries()
    1
    """

    by = BY_SIZE
    arenas: int = lever(16, least=1, most=64, unit="arenas", description="how many sizes have an arena of their own")
