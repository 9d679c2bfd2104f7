"""The record of a memory pool's run, the stays of its regions on cards, and the event log, both derived from it.

The record is enough to replay every event and holds nothing that can be derived. A region stays on a card from its
grant, through its moves, to its release. The kinds of events: release, move, return_to_driver, grant, refuse, misuse.
"""

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
"""The outcome of a request, by the number in `PoolRecord.outcome`. It is granted from a cached block, from the driver,
or from several cached blocks. It is refused because no card has space, or because the card that was chosen lacks one
region of that size. It is released. A free changes nothing if its handle was never allocated, is free already, or
belongs to a refused allocation. Last, a request is never made because its application waited for memory to the end."""
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
    """int64[moves, 8], regions brought from one card to another, in the order in which that happened. Of each: the
    request that caused it, the row of the allocation, from which card, to which, and the region's identifier there.
    Then the bytes that it took before and takes from then on, and nanoseconds when it begins. A move invalidates
    translations of addresses, as does a release to the driver, but not one to the cache (spec 5, section 8)."""
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
    """Return the mask of granted allocations: bool[requests]."""
    return record.outcome <= STITCHED


def was_asked(record: PoolRecord) -> np.ndarray:
    """Return the mask of requests that were made, bool[requests]; the others stand at the end."""
    return record.outcome != NEVER_ASKED


def borrowed(record: PoolRecord) -> np.ndarray:
    """Return the mask of allocations on another card than the application's own: bool[requests]."""
    return granted(record) & (record.card != record.borrower)


class Stays(NamedTuple):
    """One row a stay of a region on a card, by region, those of one region in their order."""

    region: np.ndarray
    """int64[stays], the row of the region's allocation."""
    card: np.ndarray
    """int64[stays]."""
    identifier: np.ndarray
    """int64[stays], its address there."""
    taken: np.ndarray
    """int64[stays], bytes that it takes there."""
    first: np.ndarray
    """int64[stays], the request that brought it there."""
    last: np.ndarray
    """int64[stays], the request with which it left; as many as there are requests where it never did."""
    begin: np.ndarray
    """int64[stays], nanoseconds, when it came: a grant when it was answered, a move when it began."""
    end: np.ndarray
    """int64[stays], nanoseconds, when it left, or when the last request was served."""


def stays_of(record: PoolRecord, which: np.ndarray | None = None) -> Stays:
    """Return every stay of the regions whose allocations are marked, bool[requests]; of all that were granted if
    None."""
    rows, moves = np.flatnonzero(granted(record) if which is None else which), record.moves
    moves = moves if which is None else moves[which[moves[:, REGION]]]
    region = np.concatenate((rows, moves[:, REGION]))
    order = np.argsort(region, kind="stable")
    region = region[order]
    followed = np.flatnonzero(region[1:] == region[:-1])
    first = np.concatenate((rows, moves[:, CAUSE]))[order]
    begin = np.concatenate((record.answered[rows], moves[:, BEGIN]))[order]
    last = freed_at(record)[region]
    end = np.append(record.done, record.answered.max(initial=0))[last]
    last[followed], end[followed] = first[followed + 1], begin[followed + 1]
    return Stays(
        region=region,
        card=np.concatenate((record.card[rows], moves[:, TO]))[order],
        identifier=np.concatenate((record.identifier[rows], moves[:, ADDRESS]))[order],
        taken=np.concatenate((record.taken[rows], moves[:, AFTER]))[order],
        first=first,
        last=last,
        begin=np.minimum(begin, end),
        end=end,
    )


def ever_away(record: PoolRecord) -> np.ndarray:
    """Return the allocations of regions that lie on another card than the application's own at some time:
    bool[requests]."""
    away = borrowed(record)
    away[record.moves[:, REGION]] = True
    return away


def remote(record: PoolRecord, stays: Stays) -> np.ndarray:
    """Return the mask of stays on another card than the application's own: bool[stays]."""
    apart: np.ndarray = stays.card != record.borrower[stays.region]
    return apart


def freed_at(record: PoolRecord) -> np.ndarray:
    """Return the request that freed each allocation, int64[requests], refused ones too; as many as there are where none
    did.

    For a request that is no allocation it means nothing.
    """
    end = np.full(record.time.size, record.time.size, np.int64)
    freed = np.flatnonzero((record.outcome == RELEASED) | (record.outcome == FREE_OF_REFUSED))
    end[record.allocation[freed]] = freed
    return end


KINDS = ("release", "move", "return_to_driver", "grant", "refuse", "misuse")
_RELEASE, _MOVE, _RETURN, _GRANT, _REFUSE, _MISUSE = range(6)


def events(record: PoolRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (request, rank, serial), as columns.

    Of one request the release comes first, then the moves that it causes, what goes back to the driver, and the grant
    or the refusal. `cycle` is the nanosecond at which the request was served; `bytes` are those of the region, of a
    refusal what was asked for. A move's handle, application and borrower are those of the region that moves; its card,
    identifier and bytes are the new ones. Translations of addresses end with a move or what goes back to the driver,
    not with a release (spec 5, section 8). What was never asked is no event.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, handle, app, borrower, card, identifier, bytes, from_card
        (of a move; else -1), source (what came of the request, such as cached or physical), waited (nanoseconds in the
        queue for memory).
    """
    parts = (_requests(record), _moves(record), _returns(record))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    place = np.lexsort((np.arange(len(columns[0])), columns[1], columns[0]))
    rows, kind, about, card, identifier, size, from_card = (column[place] for column in columns)
    return {
        "cycle": record.done[rows],
        "serial": np.arange(len(rows)),
        "kind": np.array(KINDS)[kind],
        "handle": record.handle[about],
        "app": record.app[about],
        "borrower": record.borrower[about],
        "card": card,
        "identifier": identifier,
        "bytes": size,
        "from_card": from_card,
        "source": np.array(OUTCOMES)[record.outcome[rows]],
        "waited": record.waited[rows],
    }


def _requests(record: PoolRecord) -> tuple[np.ndarray, ...]:
    """Return the columns row, kind, whose row tells of the application, card, identifier, bytes and card that is
    left."""
    alloc, done = record.action == 0, granted(record)
    kind = np.where(alloc, np.where(done, _GRANT, _REFUSE), np.where(record.outcome == RELEASED, _RELEASE, _MISUSE))
    size = np.where(done | (record.outcome == RELEASED), record.taken, record.asked)
    rows = np.flatnonzero(was_asked(record))
    columns = (column[rows] for column in (record.card, record.identifier, size))
    return rows, kind[rows], rows, *columns, np.full(rows.size, -1)


def _moves(record: PoolRecord) -> tuple[np.ndarray, ...]:
    moves = record.moves
    kind = np.full(len(moves), _MOVE)
    return moves[:, CAUSE], kind, *(moves[:, column] for column in (REGION, TO, ADDRESS, AFTER, LEFT))


def _returns(record: PoolRecord) -> tuple[np.ndarray, ...]:
    back = record.calls[record.calls[:, BYTES] < 0]
    kind, nowhere = np.full(len(back), _RETURN), np.full(len(back), -1)
    return back[:, ROW], kind, back[:, ROW], back[:, CARD], back[:, IDENTIFIER], -back[:, BYTES], nowhere
