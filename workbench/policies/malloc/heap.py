"""The heap of the device: how it hands out its memory, into which arenas it is divided, who holds its lock (spec 2).

- Heap (R16, HeapPolicy): a bitmap of granules, a bump pointer, or size classes.
- Arenas: each has memory and a lock of its own.
- Lock (R15, R21, `lock_model`): who enters the critical section next, and what does the waiting cost? All figures of
  time are modelling assumptions: no vendor documents them. `[gpu]` measures them on a card.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.policies.placement import FirstFit
from workbench.policies.placement.question import Placement
from workbench.policies.policy import Policy


class HeapPolicy(Policy, abstract=True):
    """The base of every heap. The engine knows three kinds: a bitmap of granules, a bump pointer, size classes."""

    question: ClassVar[str] = "heap"
    kind: ClassVar[int] = 0
    gives_back: ClassVar[bool] = True
    """Whether what is freed can be handed out again."""

    def frees_parts(self) -> bool:
        """Return whether a part of a block can be given back alone: blocks take exactly the granules that were asked
        for."""
        return False


class BitmapArena(HeapPolicy):
    """A bit a granule; a placement policy of the placement room says where a block goes, and how ties break.

    Any placement policy whose grants are one range will do, one of your own too. First, last, next, best fit and
    nearest boundary search a summary over the bitmap instead of the bitmap, with the same answers, so that a heap of
    millions of granules costs no more than the depth of a tree; the others read the whole map.

    References
    ----------
    spec 2, section 8: the heap as a bitmap arena with a placement policy of spec 1.

    Examples
    --------
    >>> BitmapArena(placement="best_fit").placement.name
    'best_fit'
    """

    kind = 0
    placement: Placement = lever(FirstFit(), description="where in the bitmap a block goes")

    def check(self) -> None:
        if self.placement.layout != "contiguous" or not self.placement.addressed:
            raise InputError(
                f"{self.name}.placement must give each request one range with an address. Got {self.placement.name}. "
                "Nearest: first_fit."
            )

    def frees_parts(self) -> bool:
        return not rounds(self.placement)


class BumpPointer(HeapPolicy):
    """Add the size to one pointer; nothing that is freed comes back, and there are no ties.

    References
    ----------
    spec 2, section 7: the lower bound on the cost of an allocation.

    Examples
    --------
    >>> BumpPointer().gives_back
    False
    """

    kind = 1
    gives_back = False


class SizeClasses(HeapPolicy):
    """Blocks of powers of two granules from chunks of one class each; of equal free blocks the last freed goes first.

    A class takes a chunk from a bump pointer when it has nothing left; what is larger than a chunk comes from the
    pointer at once. A freed block serves its own class alone, and chunks never change their class.

    References
    ----------
    spec 2, section 7, as far as XMalloc, ScatterAlloc, Halloc and Ouroboros share it; `DEVIATIONS.md`.

    Examples
    --------
    >>> SizeClasses(chunk_bytes=65536).chunk_bytes
    65536
    """

    kind = 2
    chunk_bytes: int = lever(
        4096,
        least=256,
        most=1 << 20,
        scale="power_of_two",
        unit="bytes",
        description="bytes that a class takes at a time",
    )


def rounds(placement: Placement) -> bool:
    """Return whether a placement policy may take more than it was asked for.

    >>> rounds(Placement.read("buddy")), rounds(FirstFit())
    (True, False)
    """
    return type(placement).footprint is not Placement.footprint


MOST_ARENAS = 4096
BY_WARP, BY_HASH, BY_SIZE = range(3)


class Arenas(Policy, abstract=True):
    """The base of every division of the heap into arenas of equal size."""

    question: ClassVar[str] = "arenas"
    by: ClassVar[int] = BY_WARP

    def count(self) -> int:
        """Return how many arenas there are."""
        return 1

    def tries(self) -> int:
        """Return how many arenas a request tries, one after the other, before it fails."""
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


EACH_SECTION, BACK_OFF, IN_LINE, NO_LOCK = range(4)
HOLD_SAYS = "how long the heap operation keeps the lock"


class HeapLock(Policy, abstract=True):
    """The base of every lock model. The engine knows four kinds: retry each section, back-off, in line, no lock."""

    question: ClassVar[str] = "lock"
    kind: ClassVar[int] = EACH_SECTION
    hold_cycles: int = lever(400, least=1, most=1_000_000, scale="log", unit="cycles", description=HOLD_SAYS)

    def among(self) -> int:
        """Return of how many of the longest waiting one is drawn."""
        return 1

    def back_off(self) -> tuple[int, int]:
        """Return the cycles between the first two tries, and the most between any two."""
        return 1, 1

    def handoff(self) -> tuple[int, int]:
        """Return the cycles from a release to the next section where somebody waits, and those on top for each who
        waits."""
        return 0, 0

    def rereads(self) -> bool:
        """Return whether everybody who waits reads the lock again at each release."""
        return False

    def retries(self) -> bool:
        """Return whether who competes and loses has tried in vain."""
        return self.kind in (EACH_SECTION, BACK_OFF)


class TrylockSpin(HeapLock):
    """Everybody who waits tries once for each critical section; the longest waiting wins, or one of several, drawn.

    c contenders that come together fail c (c - 1) / 2 times. `drawn_from` widens the tie: one of so many of the
    longest waiting wins, each as likely as another.

    References
    ----------
    spec 2, R15, R21 and the contention arithmetic of section 4.

    Examples
    --------
    >>> TrylockSpin(drawn_from=8).among()
    8
    """

    drawn_from: int = lever(
        1, least=1, most=1024, scale="log", unit="requests", description="of how many of the longest waiting one wins"
    )

    def among(self) -> int:
        return self.drawn_from


class TrylockBackoff(HeapLock):
    """Everybody who waits tries at times of his own: after so many cycles, then twice as many, up to a most.

    The first to try after a release wins, the longest waiting in a tie; until then the lock lies idle. Takes time in
    the square of those who wait.

    References
    ----------
    spec 2, parameter table, `trylock_spin(hold, backoff)`.

    Examples
    --------
    >>> TrylockBackoff(first_cycles=64, most_cycles=1024).back_off()
    (64, 1024)
    """

    kind = BACK_OFF
    first_cycles: int = lever(
        64, least=1, most=1 << 20, scale="log", unit="cycles", description="between the first two tries"
    )
    most_cycles: int = lever(
        4096, least=1, most=1 << 20, scale="log", unit="cycles", description="between any two tries"
    )

    def check(self) -> None:
        if self.most_cycles < self.first_cycles:
            expected = f"must be at least first_cycles ({self.first_cycles})"
            raise wrong_value("", f"{self.name}.most_cycles", expected, self.most_cycles, self.first_cycles)

    def back_off(self) -> tuple[int, int]:
        return self.first_cycles, self.most_cycles


class TicketLock(HeapLock):
    """First come, first served, by a number that everybody draws; at each release all who wait read the turn again.

    References
    ----------
    spec 2, section 2, `lock_model`; J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on
    Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991, section 2.2. No ties.

    Examples
    --------
    >>> TicketLock(handoff_cycles=100, cycles_a_waiter=2).handoff()
    (100, 2)
    """

    kind = IN_LINE
    handoff_cycles: int = lever(
        100, least=0, most=100_000, unit="cycles", description="from a release to the next section"
    )
    cycles_a_waiter: int = lever(1, least=0, most=1000, unit="cycles", description="on top of it for each who waits")

    def handoff(self) -> tuple[int, int]:
        return self.handoff_cycles, self.cycles_a_waiter

    def rereads(self) -> bool:
        return True


class QueueLock(HeapLock):
    """First come, first served; everybody waits on a word of his own, which the one before him writes. No ties.

    References
    ----------
    spec 2, section 2, `lock_model`; J. Mellor-Crummey and M. Scott, "Algorithms for Scalable Synchronization on
    Shared-Memory Multiprocessors", ACM TOCS 9(1), 1991, section 2.4 (the MCS lock).

    Examples
    --------
    >>> QueueLock().handoff()
    (100, 0)
    """

    kind = IN_LINE
    handoff_cycles: int = lever(
        100, least=0, most=100_000, unit="cycles", description="from a release to the next section"
    )

    def handoff(self) -> tuple[int, int]:
        return self.handoff_cycles, 0


class LockFree(HeapLock):
    """No lock: atomic operations on one address follow one another `hold_cycles` apart; in a tie the first come.

    A fetch-and-add always succeeds. Of those who try a compare-and-swap at once one succeeds and the others try again.

    References
    ----------
    spec 2, section 7: the atomic bump pointer; E11: atomics are counted apart from the lock.

    Examples
    --------
    >>> LockFree(operation="compare_and_swap").retries()
    True
    """

    kind = NO_LOCK
    hold_cycles: int = lever(
        8, least=1, most=1_000_000, scale="log", unit="cycles", description="from one atomic on an address to the next"
    )
    operation: Literal["fetch_add", "compare_and_swap"] = lever("fetch_add", description="which atomic operation it is")

    def retries(self) -> bool:
        return self.operation == "compare_and_swap"
