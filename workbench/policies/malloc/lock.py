"""Who enters the critical section of the heap next, and what does the waiting cost? (spec 2, R15, R21, `lock_model`)

All figures of time are modeling assumptions: no vendor documents them. `[gpu]` measures them on a card.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from workbench.errors import wrong_value
from workbench.levers import lever
from workbench.policies.policy import Policy

EACH_SECTION, BACK_OFF, IN_LINE, NO_LOCK, BY_WORD = range(5)
HOLD_SAYS = "how long the heap operation keeps the lock"


class HeapLock(Policy, abstract=True):
    """The base of every lock model.

    The engine knows five kinds: retry each section, back-off, in line, no lock, word by word.
    """

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


class WordByWord(HeapLock):
    """No lock of the whole heap: accesses to one word follow one another, accesses to different words do not wait.

    Parallel heaps need it. In a tie for a word the access that was issued first goes first. Lanes of a warp share an
    addition to one word.

    References
    ----------
    spec 2, R23-R30; NVIDIA, "Kepler GK110" whitepaper, 2012: one atomic operation a clock on a common address; Z. Jia,
    M. Maggioni, B. Staiger and D. Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking",
    2018: some 200 cycles to the L2 cache.

    Examples
    --------
    >>> WordByWord().plain()["swap_cycles"]
    200
    """

    kind = BY_WORD
    hold_cycles: int = lever(
        1, least=1, most=1_000_000, scale="log", unit="cycles", description="from one atomic on a word to the next"
    )
    swap_cycles: int = lever(
        200, least=1, most=1_000_000, scale="log", unit="cycles", description="from one compare-and-swap to the next"
    )
    travel_cycles: int = lever(200, least=0, most=1_000_000, unit="cycles", description="from a thread to a word")
    polls_a_cycle: int = lever(
        32,
        least=0,
        most=1 << 20,
        unit="requests",
        description="requests under way, which try again, for which a section takes a cycle more; 0 = any",
    )
    merge_lanes: bool = lever(True, description="whether lanes of a warp share an addition to one word")
