"""The event log of a heap, derived from its record: acquire, refuse, grant, release."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.records.malloc import MallocRecord

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
