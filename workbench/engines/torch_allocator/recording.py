"""From a recorded history to what a replay needs: the requests, where the driver gave memory, and the beginning.

The beginning is what a snapshot shows after the last event, with every event taken back. A free block reaches from one
block in use to the next; what a block has too much for what was asked stays its own unless it could be split off.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.initial_state import NO_ENDS, beginning, reserved_by_event
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import MIB, SMALL_BUFFER, Requests, Start, Supply
from workbench.workloads.allocator_log import (
    ALLOC,
    FREE_COMPLETED,
    FREE_REQUESTED,
    OOM,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    AllocatorLog,
    rows_of,
)


class Recording(NamedTuple):
    """One card's history as requests of the application."""

    log: AllocatorLog
    settings: AllocatorSettings
    """Those that it was recorded with."""
    requests: Requests
    event: np.ndarray
    """int64[rows], the event of each request."""
    expected: np.ndarray
    """int64[rows], the address that an allocation got, -1 of other rows."""
    supply: Supply
    implied: int
    """How many of the supplied segments, the first ones, have no event: theirs is cut off."""
    start: Start
    private: np.ndarray
    """int64[owners], the number of each owner's private pool."""
    failed: np.ndarray
    """int64[requests], the events at which the recorded allocator ran out of memory."""
    failed_owner: np.ndarray
    """int64[requests], whose requests these were."""
    doubtful: Mapping[int, tuple[int, int]]
    """As of `Beginning.doubtful`."""
    guessed_segments: int
    """As of `Beginning.guessed_segments`."""

    @property
    def is_whole(self) -> bool:
        """Return whether the history begins with an allocator that held nothing."""
        return not len(self.start.address)

    @property
    def reserved_at_start(self) -> int:
        """Return the bytes got from the driver before the first event."""
        return int(self.start.size[self.start.kind != rows.UNMAPPED].sum())


def recording_of(log: AllocatorLog, assumed: Mapping[int, int] = NO_ENDS) -> Recording:
    """Return a card's history as requests, from the state at its first event on.

    Parameters
    ----------
    assumed : mapping
        See `initial_state`.
    """
    settings = AllocatorSettings.recorded(log.settings)
    owners = _Owners(log)
    before = beginning(log, settings, owners.number, assumed)
    table = _Table(log, owners, before.handles)
    table.walk()
    start, fresh = _without_fresh(before.start, log, settings)
    table.supplied[:0] = fresh
    columns = table.columns()
    supplied = [np.array(column, np.int64) for column in zip(*table.supplied, strict=True)]
    failed = np.flatnonzero(log.events.action == OOM)
    asking = zip(log.events.stream[failed].tolist(), failed.tolist(), strict=True)
    failed_owner = np.array([owners.number(stream, -1, at) for stream, at in asking], np.int64)
    return Recording(
        log=log,
        settings=settings,
        requests=Requests(*columns[:5]),
        event=columns[5],
        expected=columns[6],
        supply=Supply(*(supplied or [np.zeros(0, np.int64)] * 3)),
        implied=len(fresh),
        start=start,
        failed=failed,
        failed_owner=failed_owner,
        private=np.array(owners.private, np.int64),
        doubtful=before.doubtful,
        guessed_segments=before.guessed_segments,
    )


def _without_fresh(
    start: Start, log: AllocatorLog, settings: AllocatorSettings
) -> tuple[Start, list[tuple[int, int, int]]]:
    """Take out the segment that the first event was served from if only a fresh one could: its own event is cut off.

    A cached one of at least `max_split_size` serves no smaller request.
    """
    split = settings.max_split_size_mb * MIB
    if not split or not len(log.events.action) or log.events.action[0] != ALLOC:
        return start, []
    address, size = int(log.events.address[0]), int(log.events.size[0])
    fits = (start.address == address) & (start.first == 1) & (start.kind == rows.CACHED) & (start.base < 0)
    fits &= (start.size >= split) & (size < split)
    supplied = [(0, int(start.size[at]), address) for at in np.flatnonzero(fits)]
    return Start(*(column[~fits] for column in start)), supplied


class _Owners:
    """Numbers for streams within private pools; which pool an address belongs to, the event tells or, of older versions
    of PyTorch, the segments at the end."""

    def __init__(self, log: AllocatorLog) -> None:
        self.private: list[int] = [0]
        self._numbers: dict[tuple[int, int], int] = {}
        segments, events = log.segments, log.events
        self._pool_of_event = events.pool
        own = np.flatnonzero(segments.pool > 0)
        order = own[np.argsort(segments.address[own], kind="stable")]
        self._starts = segments.address[order]
        self._ends = self._starts + segments.size[order]
        self._pools = segments.pool[order]
        grown = np.flatnonzero(events.action == SEGMENT_ALLOC)
        born = dict(zip(events.address[grown].tolist(), grown.tolist(), strict=True))
        self._born = np.array([born.get(int(address), -1) for address in self._starts], np.int64)

    def number(self, stream: int, address: int, event: int) -> int:
        """Return the owner of what lay at an address at an event."""
        named = int(self._pool_of_event[event]) if 0 <= event < len(self._pool_of_event) else -1
        return self.of(stream, self._pool(address, event) if named < 0 else named)

    def of(self, stream: int, pool: int) -> int:
        """Return the owner of a stream's blocks in a pool."""
        known = self._numbers.get((stream, pool))
        if known is None:
            known = self._numbers[stream, pool] = len(self._numbers)
            self.private[known:] = [pool]
        return known

    def _pool(self, address: int, event: int) -> int:
        if not len(self._starts):
            return 0
        at = int(np.searchsorted(self._starts, address, side="right")) - 1
        inside = at >= 0 and address < self._ends[at] and (self._born[at] <= event or event < 0)
        return int(self._pools[at]) if inside else 0


_COLUMNS = 7


class _Table:
    """The requests, gathered event by event."""

    def __init__(self, log: AllocatorLog, owners: _Owners, handles: dict[int, tuple[int, int]]) -> None:
        self._rows = array("q")
        """Row by row; as tuples they would take five times the memory."""
        self.supplied: list[tuple[int, int, int]] = []
        self._events = log.events
        self._owners = owners
        self._live = dict(handles)
        self._next = len(handles)
        self._waiting: list[tuple[int, int]] = []
        self._emptied = False
        self._searched = False
        """Whether memory went back right before the driver gave some: then what is free was searched before that."""

    def walk(self) -> None:
        """Take every event."""
        events = self._events
        completed = np.zeros(len(events.action), bool)
        """Whether the next event completes what an event is about."""
        completed[:-1] = (events.action[1:] == FREE_COMPLETED) & (events.address[1:] == events.address[:-1])
        columns = (events.action, events.address, events.size, events.stream, completed)
        for at, (action, address, size, stream, is_completed) in enumerate(rows_of(*columns)):
            if action == ALLOC:
                self._allocate(at, address, size, stream)
            elif action == FREE_REQUESTED:
                # If the completion follows at once, the two events are one free.
                if not is_completed:
                    self._release(at, address, rows.DEFER)
            elif action == FREE_COMPLETED:
                self._release(at, address, rows.FREE)
            elif action in (SEGMENT_ALLOC, SEGMENT_MAP):
                self._searched = self._searched or self._emptied
                self._waiting.append((size, address))
            elif action == SEGMENT_FREE:
                owner = self._owners.number(stream, address, at)
                self._rows.extend((rows.GIVE_BACK, int(size == SMALL_BUFFER), size, owner, address, at, -1))
            elif action == OOM:
                self._waiting.clear()
                self._searched = False
            elif action == SEGMENT_UNMAP and not self._emptied:
                # One request gives back every free page. A SEGMENT_UNMAP right behind another release adds no row.
                self._rows.extend((rows.EMPTY_CACHE, 0, 0, 0, -1, at, -1))
            self._emptied = action in (SEGMENT_FREE, SEGMENT_UNMAP)

    def columns(self) -> list[np.ndarray]:
        """Return the columns of `Requests`, then the event and the address of each."""
        return list(np.ascontiguousarray(np.frombuffer(self._rows, np.int64).reshape(-1, _COLUMNS).T))

    def _allocate(self, at: int, address: int, size: int, stream: int) -> None:
        owner = self._owners.number(stream, address, at)
        if self._waiting:
            self.supplied += [(len(self._rows) // _COLUMNS, *it) for it in self._waiting]
            self._waiting.clear()
        searched = rows.SEARCHED_BEFORE if self._searched else -1
        self._searched = False
        self._rows.extend((rows.ALLOC, self._next, size, owner, searched, at, address))
        self._live[address] = self._next, owner
        self._next += 1

    def _release(self, at: int, address: int, kind: int) -> None:
        """Take a block back; one that the beginning does not know and no event allocated is none of the allocator's."""
        # A deferred block stays known, as its completion names it again.
        known = self._live.get(address) if kind == rows.DEFER else self._live.pop(address, None)
        if known is not None:
            self._rows.extend((kind, known[0], 0, known[1], -1, at, -1))


def without_releases(recording: Recording) -> tuple[Requests, np.ndarray]:
    """Return the requests as another setting has to serve them, and the event of each.

    What was given back piece by piece is one request to give back what is free.
    """
    requested = recording.requests
    gives = requested.kind == rows.GIVE_BACK
    empties = gives | (requested.kind == rows.EMPTY_CACHE)
    event = recording.event
    follows = np.zeros(len(empties), bool)
    follows[1:] = empties[1:] & empties[:-1] & (event[1:] == event[:-1] + 1)
    kind = np.where(gives, rows.EMPTY_CACHE, requested.kind)
    kept = ~follows
    other = requested._replace(kind=kind, address=np.where(requested.kind == rows.ALLOC, -1, requested.address))
    return Requests(*(column[kept] for column in other)), event[kept]


def live_before(recording: Recording) -> np.ndarray:
    """Return the bytes asked for of each block that was live before the first event, by its handle: int64[blocks]."""
    log, start = recording.log, recording.start
    known = start.handle >= 0
    requested = dict(zip(log.blocks.address.tolist(), log.blocks.requested.tolist(), strict=True))
    freed = np.flatnonzero(log.events.action == FREE_COMPLETED)[::-1]
    requested |= dict(zip(log.events.address[freed].tolist(), log.events.size[freed].tolist(), strict=True))
    result = np.zeros(int(known.sum()), np.int64)
    for handle, address, size in zip(
        *(c[known].tolist() for c in (start.handle, start.address, start.size)), strict=True
    ):
        result[handle] = min(requested.get(address, size), size) or size
    return result


class RecordedBytes(NamedTuple):
    """What the recorded allocator held; element k is after k events, the first before any."""

    allocated: np.ndarray
    """int64[events + 1], bytes asked for and not given back."""
    reserved: np.ndarray
    """int64[events + 1], bytes got from the driver."""


def recorded_bytes(recording: Recording) -> RecordedBytes:
    """Return the curves that the events of a card's history tell, from what there was before the first: every peak that
    is said of a recording is the highest of these.

    Parameters
    ----------
    recording : Recording
        Of `recording_of`; a history without events gives one element each.
    """
    events = recording.log.events
    change = events.size * ((events.action == ALLOC).astype(np.int64) - (events.action == FREE_COMPLETED))
    implied = int(recording.supply.size[: recording.implied].sum())
    return RecordedBytes(
        summed(int(live_before(recording).sum()), change),
        summed(recording.reserved_at_start + implied, reserved_by_event(recording.log)),
    )


def summed(before: int, change: np.ndarray) -> np.ndarray:
    """Return the total after each change, and before the first: int64[changes + 1]."""
    result: np.ndarray = before + np.concatenate([np.zeros(1, np.int64), np.cumsum(change)])
    return result
