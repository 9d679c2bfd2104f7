"""The record of a run of device malloc, enough to replay every event, and the event log derived from it.

The kinds of events: release, acquire, refuse, grant. The record holds nothing that can be derived from it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NEVER = -1
UNASKED = -2
"""In `request`: the piece of this row is not requested."""


class Work(NamedTuple):
    """How many instructions the parts of an allocation take, as the options say."""

    tries: int
    """A try to take the lock."""
    heap: int
    """An operation on the heap."""
    steps: int
    """All steps of the sum, the prefix sum and the barrier of a call; 0 where there are none."""
    split: int
    """Dividing a block; 0 where nothing is divided."""


class MallocRecord(NamedTuple):
    """One run of the engine `malloc`: one row a call of a thread, one a request to the heap, one a block."""

    unit: int
    """Threads that are served together."""
    granule_bytes: int
    heap_bytes: int
    base_address: int
    header_bytes: int
    occupied_bytes: int
    """Bytes of the heap that were taken before the run."""
    work: Work
    arrival: np.ndarray
    """int64[rows], when each thread called."""
    thread: np.ndarray
    """int64[rows], its number."""
    asked: np.ndarray
    """int64[rows], bytes that it asked for."""
    free_at: np.ndarray
    """int64[rows], from when on it gives up what it got, -1 for never."""
    size: np.ndarray
    """int64[rows], bytes of its piece; 0 where it is not requested."""
    offset: np.ndarray
    """int64[rows], where its piece begins in its request."""
    request: np.ndarray
    """int64[rows], its heap request; -1 = the policy gives it nothing, -2 = it is not requested."""
    block: np.ndarray
    """int32[rows], the block that holds its piece, -1 where it got none."""
    leader: np.ndarray
    """int32[requests], the row that asked."""
    total: np.ndarray
    """int64[requests], bytes of its pieces."""
    acquired: np.ndarray
    """int64[requests], when it entered the critical section in which it was served or failed."""
    ended: np.ndarray
    """int64[requests], when that section ended."""
    ready: np.ndarray
    """int64[requests], when its lanes had their addresses, or learnt that there are none."""
    base: np.ndarray
    """int64[blocks], the first granule of each block, in the order of the grants."""
    granules: np.ndarray
    """int64[blocks]"""
    bytes: np.ndarray
    """int64[blocks], bytes that were asked of the heap."""
    owner: np.ndarray
    """int32[blocks], the request."""
    origin: np.ndarray
    """int64[blocks], where in its request the block begins."""
    granted: np.ndarray
    """int64[blocks], the cycle at which the heap gave it."""
    returned: np.ndarray
    """int64[blocks], the cycle at which the heap had it back, -1 for never."""
    acquisitions: int
    """How often a lock was taken."""
    tried_in_vain: int
    """Tries to take a lock, or to change a word, that failed."""
    locked: bool
    """Whether there is a lock; where not, tries in vain are of atomic operations on the heap itself."""
    heap_atomics: int
    """Atomic operations on the heap for allocations."""
    rereads: int
    """How often somebody who waited read the lock again because it had been released."""
    words: int
    """Words of a bitmap that were read and written by grants and returns."""
    taken_log: np.ndarray
    """int64[acquisitions, 3]: cycle, request, arena of every entry into a section; empty unless events were asked."""
    refusals: np.ndarray
    """int64[refusals, 3]: cycle, request, bytes that the heap refused; empty unless events were asked for."""


def address(record: MallocRecord) -> np.ndarray:
    """Return the start of each row's piece: int64[rows], -1 where it got none."""
    block, got = record.block, record.block >= 0
    result = np.full(len(block), -1, np.int64)
    mine = block[got]
    inside = record.header_bytes + record.offset[got] - record.origin[mine]
    result[got] = record.base_address + record.base[mine] * record.granule_bytes + inside
    return result


def given_up(record: MallocRecord) -> np.ndarray:
    """Return the cycle at which each row's piece is given up: int64[rows], -1 for never or where it got none.

    A piece cannot be given up before its thread has it.
    """
    gives = (record.block >= 0) & (record.free_at >= 0)
    result = np.full(len(gives), NEVER, np.int64)
    result[gives] = np.maximum(record.free_at[gives], record.ready[record.request[gives]])
    return result


KINDS = ("release", "acquire", "refuse", "grant")
_RELEASE, _ACQUIRE, _REFUSE, _GRANT = range(4)


def events(record: MallocRecord) -> dict[str, np.ndarray]:
    """Return every event in its total order (cycle, rank, serial), as columns.

    Within a cycle releases come first, then the starts of critical sections, then what the heap refused, then what it
    granted; with several arenas all starts of a cycle precede all its refusals, and these all its grants. `acquire`
    is the entry into a critical section, of no bytes and no address; `refuse` has the bytes that were asked for. The
    thread of a release is the one that asked for the block.

    Returns
    -------
    dict of arrays
        cycle, serial (0, 1, 2, ... in the total order), kind, warp, thread, address, bytes.
    """
    blocks = np.arange(len(record.base))
    where = record.base_address + record.base * record.granule_bytes
    back = np.flatnonzero(record.returned >= 0)
    nowhere = np.full(len(record.taken_log), -1)
    parts: list[tuple[Any, ...]] = [
        (record.returned[back], _RELEASE, back, record.owner[back], where[back], record.bytes[back]),
        (record.taken_log[:, 0], _ACQUIRE, _order(record.taken_log), record.taken_log[:, 1], nowhere, nowhere * 0),
        (record.refusals[:, 0], _REFUSE, _order(record.refusals), record.refusals[:, 1], None, record.refusals[:, 2]),
        (record.granted, _GRANT, blocks, record.owner, where, record.bytes),
    ]
    columns = [_column(parts, k) for k in range(6)]
    cycle, kind, order, request, at, size = columns
    thread = record.thread[record.leader[request]] if len(request) else request
    place = np.lexsort((order, kind, cycle))
    return {
        "cycle": cycle[place],
        "serial": np.arange(len(place)),
        "kind": np.array(KINDS)[kind[place]],
        "warp": thread[place] // record.unit,
        "thread": thread[place],
        "address": at[place],
        "bytes": size[place],
    }


def _order(log: np.ndarray) -> np.ndarray:
    return np.arange(len(log))


def _column(parts: list[tuple[Any, ...]], k: int) -> np.ndarray:
    filled = [np.full(len(np.asarray(part[0])), -1 if part[k] is None else part[k], np.int64) for part in parts]
    return np.concatenate(filled)
