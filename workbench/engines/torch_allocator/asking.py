"""The requests of a recording as another setting has to serve them, from a fresh start where the history has none."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.recording import Recording, live_before, without_releases
from workbench.engines.torch_allocator.state import NOTHING, Requests, Start
from workbench.workloads.allocator_log import SEGMENT_FREE, SEGMENT_UNMAP


class Asking(NamedTuple):
    """What one card's program asks for, whatever the allocator's settings."""

    requests: Requests
    event: np.ndarray
    """int64[rows], the event of each request, -1 = what was live before."""
    private: np.ndarray
    before: int
    """How many rows ask for what was live before the first event."""
    refused: np.ndarray
    """int64[requests], rows that ask for what the recorded allocator could not serve."""
    start: Start = NOTHING

    @property
    def live(self) -> np.ndarray:
        """Return the bytes asked for and live after each row: int64[rows]."""
        requested = self.requests
        change = np.where(requested.kind == rows.ALLOC, requested.size, 0)
        size_of = np.zeros(int(requested.handle.max(initial=0)) + 1, np.int64)
        size_of[requested.handle[requested.kind == rows.ALLOC]] = requested.size[requested.kind == rows.ALLOC]
        frees = (requested.kind == rows.FREE) | (requested.kind == rows.COMPLETE)
        change[frees] = -size_of[requested.handle[frees]]
        return np.cumsum(change)


def asking_of(recording: Recording) -> Asking:
    """Return what a recorded program asks for.

    What was live before the first event is asked for first, in the order of addresses: which blocks came and went
    before is not told, so the memory that a setting would have kept from that time is not either. What the recorded
    allocator could not serve is asked for too, and given back at once: the question is who could have served it. The
    caches that were emptied for it are not emptied then.
    """
    requests, event = _without_emptied_for_nothing(*without_releases(recording), recording)
    before = _before(recording)
    failed = _failed(recording, int(requests.handle.max(initial=-1)) + 1 + len(before))
    order = np.argsort(np.concatenate([event, _table(failed)[5]]), kind="stable")
    columns = zip(_table(before), (*requests, event), _table(failed), strict=True)
    table = [np.concatenate([first, np.concatenate([own, late])[order]]) for first, own, late in columns]
    refused = np.isin(table[1], [row[1] for row in failed]) & (table[0] == rows.ALLOC)
    return Asking(Requests(*table[:5]), table[5], recording.private, len(before), np.flatnonzero(refused))


def _table(table: list[tuple[int, ...]]) -> np.ndarray:
    return np.array(table, np.int64).reshape(-1, 6).T


def _before(recording: Recording) -> list[tuple[int, ...]]:
    """Return a row for each block that was live before the first event."""
    start, sizes = recording.start, live_before(recording)
    held = np.flatnonzero(start.handle >= 0)
    order = held[np.argsort(start.address[held], kind="stable")]
    return [
        (rows.ALLOC, handle, int(sizes[handle]), pool >> 1, -1, -1)
        for handle, pool in zip(start.handle[order].tolist(), start.pool[order].tolist(), strict=True)
    ]


def _failed(recording: Recording, handle: int) -> list[tuple[int, ...]]:
    """Return two rows for each request that the recorded allocator could not serve."""
    events = recording.log.events
    result: list[tuple[int, ...]] = []
    for number, at in enumerate(recording.failed.tolist()):
        size = int(events.size[at])
        owner = int(recording.failed_owner[number])
        result += [(kind, handle + number, size, owner, -1, at) for kind in (rows.ALLOC, rows.FREE)]
    return result


def _without_emptied_for_nothing(
    requests: Requests, event: np.ndarray, recording: Recording
) -> tuple[Requests, np.ndarray]:
    """Leave out the releases that the recorded allocator made before it gave up."""
    if not len(recording.failed):
        return requests, event
    actions = recording.log.events.action
    own = set()
    for at in recording.failed.tolist():
        back = at - 1
        while back >= 0 and actions[back] in (SEGMENT_FREE, SEGMENT_UNMAP):
            own.add(back)
            back -= 1
    kept = np.array([it not in own for it in event.tolist()], bool)
    return Requests(*(column[kept] for column in requests)), event[kept]
