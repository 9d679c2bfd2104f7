"""What happened in a memory pool: enough to replay every event, and nothing that can be derived from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

OUTCOMES = (
    "cached",
    "physical",
    "stitched",
    "refused",
    "misjudged",
    "released",
    "unknown_free",
    "repeated_free",
    "free_of_refused",
    "never_asked",
)
"""What came of a request, by the number in `PoolRecord.outcome`: granted from a cached block, from the driver, from
several cached blocks; refused because no card has room, or because the card that was chosen lacks one region of that
size; released; frees that change nothing: of a handle that was never allocated, that is free already, or whose
allocation was refused; and what an application never came to ask, because it waited for memory to the end."""
CACHED, PHYSICAL, STITCHED, REFUSED, MISJUDGED, RELEASED, UNKNOWN_FREE, REPEATED_FREE, FREE_OF_REFUSED = range(9)
NEVER_ASKED = 9
ROW, CARD, IDENTIFIER, BYTES = range(4)
"""The columns of `PoolRecord.calls`."""
CAUSE, REGION, LEFT, TO, ADDRESS, BEFORE, AFTER, BEGIN = range(8)
"""The columns of `PoolRecord.moves`."""


class PoolRecord(NamedTuple):
    """One run of the engine `pool`: one row a request in the order in which they were served, and the driver's calls.

    They are served in the order of the trace, except where requests wait for memory (`when_full: wait`).
    """

    cards: tuple[str, ...]
    """What the cards are called."""
    hosts: np.ndarray
    """bool[cards], whether each is a CPU."""
    capacity: np.ndarray
    """int64[cards], bytes that applications can have of each."""
    gbps: np.ndarray
    """float64[cards, cards], the narrowest link of the path between two cards; infinite to itself."""
    hops: np.ndarray
    """int64[cards, cards], direct links of that path."""
    time: np.ndarray
    """int64[requests], nanoseconds, when each was sent, or would have been: later than in the trace by as long as its
    application has waited before."""
    app: np.ndarray
    """int64[requests], the application that sent it."""
    borrower: np.ndarray
    """int64[requests], the card on which the application runs."""
    action: np.ndarray
    """int8[requests]: 0 = allocate, 1 = free."""
    handle: np.ndarray
    """int64[requests], what the application calls the region."""
    asked: np.ndarray
    """int64[requests], bytes that were asked for."""
    allocation: np.ndarray
    """int64[requests], the row of the allocation that a free names, -1 = there is none; of an allocation itself."""
    outcome: np.ndarray
    """int8[requests], a place in `OUTCOMES`."""
    card: np.ndarray
    """int64[requests], the card whose memory was granted or released, -1 = none; a region that has moved is released
    where it lies by then."""
    identifier: np.ndarray
    """int64[requests], the address of the region on that card, -1 = none; of a stitched one that of its first part."""
    taken: np.ndarray
    """int64[requests], bytes of the region, which may be more than were asked for; 0 = none."""
    done: np.ndarray
    """int64[requests], nanoseconds, when each was served; not decreasing."""
    waited: np.ndarray
    """int64[requests], nanoseconds of that which each spent in the queue for memory."""
    answered: np.ndarray
    """int64[requests], nanoseconds, when its application had the answer: later than `done` where a client maps."""
    calls: np.ndarray
    """int64[calls, 4], the driver's calls in their order: request, card, address, bytes; below 0 for a release."""
    mappings: np.ndarray
    """int64[requests], the driver's calls for each that map addresses to memory, set access or unmap."""
    moves: np.ndarray
    """int64[moves, 8], regions brought from one card to another, in the order in which that happened: the request that
    caused it, the row of the allocation, from which card, to which, the region's identifier there, bytes that it took
    before and takes from then on, nanoseconds when it begins. A move invalidates translations of addresses, as does a
    release to the driver, but not one to the cache (spec 5, section 8)."""
    access_ns: np.ndarray
    """float64[requests], how long the region's data were under way to its application while it lay on other cards,
    contention included; 0 = it never did."""
    access_alone_ns: np.ndarray
    """float64[requests], how long it would have been without contention."""
    move_ns: np.ndarray
    """float64[moves], how long each move's data were under way, contention included."""
    move_alone_ns: np.ndarray
    """float64[moves], how long it would have been without contention."""
    fallbacks: int
    """Choices of a card for which no candidate met what the policy wants (spec 5, E10)."""
    peak_cached: np.ndarray
    """int64[cards], the most cached bytes of each card between two requests."""
    idle_limit: int
    """Cached bytes that a card may keep after a release."""


class FilledRecord(PoolRecord):
    """A run of which it is known how full the regions were.

    What is made of it by `_replace` is a plain record again.
    """

    filled: np.ndarray
    """float64[requests], of an allocation: bytes that held data, summed over the nanoseconds of its life as planned by
    the workload; else 0."""

    @classmethod
    def of(cls, record: PoolRecord, filled: np.ndarray) -> FilledRecord:
        """Return the record with how full the regions were."""
        result = cls(*record)
        result.filled = filled
        return result


def granted(record: PoolRecord) -> np.ndarray:
    """Return which allocations were granted: bool[requests]."""
    return record.outcome <= STITCHED


def was_asked(record: PoolRecord) -> np.ndarray:
    """Return which requests were asked at all, bool[requests]; the others stand at the end."""
    return record.outcome != NEVER_ASKED


def borrowed(record: PoolRecord) -> np.ndarray:
    """Return which allocations were granted on another card than the application's own: bool[requests]."""
    return granted(record) & (record.card != record.borrower)
