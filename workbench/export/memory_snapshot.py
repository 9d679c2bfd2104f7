"""A run of a memory pool as a memory snapshot of PyTorch: pytorch.org/memory_viz and `workbench trace replay` open it.

Every card with memory is a device, GPUs first, and shows what lies in its memory, whoever asked for it. What the pool
gets from a driver is a segment, what it grants an allocation, and what it refuses an `oom`. The file holds
dictionaries, lists and numbers alone, as `torch.cuda.memory._dump_snapshot` writes them (PyTorch 2.1 to 2.6).
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results_folder import write_whole
from workbench.records.pool import BYTES, CARD, IDENTIFIER, RELEASED, STITCHED, PoolRecord, granted

BASE = 0x7F00_0000_0000
"""Where every device's memory begins: no block lies at the null pointer."""
_SMALL_SEGMENT = 2 << 20
_IN_PIECES = "a memory snapshot needs every region to lie within one allocation of a driver; this cache maps pieces."
_PROTOCOL = 4

Event = dict[str, Any]


def write_snapshot(record: Any, to: Path) -> Path:
    """Write what happened in a run; the same record gives the same bytes.

    Raises
    ------
    InputError
        The record is none of a pool, or a region of it does not lie in one piece within one allocation of a driver.
    StoreError
        The file cannot be written.
    """
    if not isinstance(record, PoolRecord):
        raise InputError("a memory snapshot shows what a pool holds: it needs a run of the engine pool.")
    write_whole(to, pickle.dumps(snapshot(record), protocol=_PROTOCOL))
    return to


def snapshot(record: PoolRecord) -> dict[str, Any]:
    """Return the snapshot as dictionaries: `segments`, `device_traces` and `allocator_settings`."""
    if (record.outcome == STITCHED).any():
        raise InputError("a memory snapshot shows blocks of one piece; this run stitched regions of several.")
    if len(record.moves):
        raise InputError("a memory snapshot shows blocks that stay where they are; in this run regions moved.")
    if record.mappings.any():
        raise InputError(_IN_PIECES)
    number = _devices(record)
    traces: list[list[Event]] = [[] for _ in number]
    for device, event in _events(record, number):
        traces[device].append(event)
    return {"segments": list(_segments(record, number)), "device_traces": traces, "allocator_settings": {}}


def _devices(record: PoolRecord) -> dict[int, int]:
    """Return the device that each card with memory is."""
    cards = sorted(np.flatnonzero(record.capacity).tolist(), key=lambda card: bool(record.hosts[card]))
    return {card: device for device, card in enumerate(cards)}


def _events(record: PoolRecord, number: dict[int, int]) -> Iterator[tuple[int, Event]]:
    """Yield device and event, in the order in which they happened."""
    calls = defaultdict(list)
    for row, card, address, size in record.calls.tolist():
        name = "segment_alloc" if size > 0 else "segment_free"
        calls[row].append((number[card], _event(name, address, abs(size), record.done[row])))
    served = granted(record)
    for row, time in enumerate(record.done.tolist()):
        if record.outcome[row] == RELEASED:
            device, address, size = number[int(record.card[row])], int(record.identifier[row]), int(record.asked[row])
            yield device, _event("free_requested", address, size, time)
            yield device, _event("free_completed", address, size, time)
        yield from calls[row]
        if served[row]:
            address, size = int(record.identifier[row]), int(record.asked[row])
            yield number[int(record.card[row])], _event("alloc", address, size, time)
        elif record.action[row] == 0:
            failed = {"action": "oom", "device_free": 0, "size": int(record.asked[row])}
            yield number[int(record.borrower[row])], {**failed, "stream": 0, "time_us": time // 1000, "frames": []}


def _event(action: str, address: int, size: int, time_ns: Any) -> Event:
    where = {"action": action, "addr": BASE + address, "size": size}
    return {**where, "stream": 0, "time_us": int(time_ns) // 1000, "frames": []}


def _segments(record: PoolRecord, number: dict[int, int]) -> Iterator[dict[str, Any]]:
    """Yield the memory that the drivers have given in the end, with its blocks."""
    held = _held(record.calls)
    starts = {card: sorted(address for of, address in held if of == card) for card in number}
    inside: dict[tuple[int, int], list[int]] = {place: [] for place in held}
    for row in _live(record):
        card, address = int(record.card[row]), int(record.identifier[row])
        place = bisect_right(starts[card], address) - 1
        first = starts[card][place] if place >= 0 else -1
        if place < 0 or address + int(record.taken[row]) > first + held[card, first]:
            raise InputError(_IN_PIECES)
        inside[card, first].append(row)
    for (card, address), size in sorted(held.items()):
        yield _segment(record, number[card], address, size, inside[card, address])


def _held(calls: np.ndarray) -> dict[tuple[int, int], int]:
    """Map card and address of what the drivers have given and not got back to its bytes."""
    held: dict[tuple[int, int], int] = {}
    for call in calls.tolist():
        place = call[CARD], call[IDENTIFIER]
        if call[BYTES] > 0:
            held[place] = call[BYTES]
        elif held.pop(place, 0) != -call[BYTES]:
            raise InputError(_IN_PIECES)
    return held


def _live(record: PoolRecord) -> list[int]:
    """Return the rows of the allocations that were never released."""
    released = record.allocation[record.outcome == RELEASED]
    live = granted(record)
    live[released] = False
    result: list[int] = np.flatnonzero(live).tolist()
    return result


def _segment(record: PoolRecord, device: int, address: int, size: int, rows: list[int]) -> dict[str, Any]:
    blocks, at = [], address
    for row in sorted(rows, key=lambda row: int(record.identifier[row])):
        begin, taken = int(record.identifier[row]), int(record.taken[row])
        if begin > at:
            blocks.append(_block(at, begin - at, 0, "inactive"))
        blocks.append(_block(begin, taken, int(record.asked[row]), "active_allocated"))
        at = begin + taken
    if at < address + size:
        blocks.append(_block(at, address + size - at, 0, "inactive"))
    live = sum(int(record.taken[row]) for row in rows)
    return {
        "device": device,
        "address": BASE + address,
        "total_size": size,
        "allocated_size": live,
        "active_size": live,
        "requested_size": sum(int(record.asked[row]) for row in rows),
        "stream": 0,
        "segment_type": "small" if size <= _SMALL_SEGMENT else "large",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": blocks,
    }


def _block(address: int, size: int, requested: int, state: str) -> dict[str, Any]:
    return {"address": BASE + address, "size": size, "requested_size": requested, "state": state, "frames": []}
