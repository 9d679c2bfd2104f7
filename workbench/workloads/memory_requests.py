"""From the memory events of a trace to the requests of one rank, each release with the block that it releases."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from workbench.errors import InputError
from workbench.workloads.allocations import AllocationTable, LiveBefore
from workbench.workloads.pool_requests import ALLOC, FREE, PoolRequests
from workbench.workloads.recorded import TraceFile, trace_in
from workbench.workloads.regions import matched_by_size


def memory_events(file: TraceFile, device: int) -> AllocationTable:
    """Return the memory events of one card, or of all."""
    path, rows = file.path, trace_in(file).allocations
    if rows is None:
        raise InputError(f"{path}: holds no memory events (record with profile_memory, or take a memory snapshot).")
    rows = rows.without_empty()
    if device < 0:
        return rows
    if not (rows.device == device).any():
        there = ", ".join(map(str, np.unique(rows.device)))
        raise InputError(f"{path}: has memory events of device {there} only. Got trace_pool.device {device}.")
    return rows.of_device(device)


@lru_cache(maxsize=8)
def requests_of_rank(file: TraceFile, device: int, ask_before: bool, count: int) -> PoolRequests:
    """Return the requests of one rank, its cards counted from 0."""
    rows = memory_events(file, device)
    before = live_before(rows)
    block = _blocks(rows, before)
    held = before.bytes if ask_before else before.bytes[:0]
    kept = np.ones(len(block), bool) if ask_before else (block >= len(before.bytes))
    start = int(rows.time_ns[0]) if len(rows.time_ns) else 0
    card = np.searchsorted(cards_of(rows), np.concatenate([before.device[: len(held)], rows.device[kept]]))
    requests = PoolRequests(
        time=np.concatenate([np.zeros(len(held), np.int64), rows.time_ns[kept] - start]),
        app=card,
        card=card,
        action=np.concatenate(
            [np.full(len(held), ALLOC, np.int8), np.where(rows.bytes[kept] > 0, ALLOC, FREE).astype(np.int8)]
        ),
        handle=np.concatenate([np.arange(len(held)), block[kept]]),
        bytes=np.concatenate([held, np.abs(rows.bytes[kept])]),
    )
    return PoolRequests(*(column[: count or None] for column in requests))


def with_cache(asked: PoolRequests, rows: AllocationTable) -> PoolRequests:
    """Return the requests with those for what the recorded allocator held cached before the first event, card by
    card."""
    if rows.reserved_after is None or rows.allocated_after is None:
        raise InputError("before: with_cache needs a trace that tells what its allocator had got from the driver.")
    cached = np.array([rows.cached_before(card) for card in cards_of(rows).tolist()], np.int64)
    some = np.flatnonzero(cached)
    place = np.repeat(some, 2)
    number = int(asked.handle.max(initial=-1)) + 1
    extra = PoolRequests(
        time=np.zeros(len(place), np.int64),
        app=place,
        card=place,
        action=np.tile(np.array([ALLOC, FREE], np.int8), len(some)),
        handle=number + place,
        bytes=np.repeat(cached[some], 2),
    )
    held = int(np.searchsorted(asked.time, 0, side="right"))
    parts = ((column[:held], more, column[held:]) for column, more in zip(asked, extra, strict=True))
    return PoolRequests(*(np.concatenate(part) for part in parts))


def with_refused(asked: PoolRequests, rows: AllocationTable) -> PoolRequests:
    """Return the requests with those that failed, each given back at once; after what the trace tells of the same
    time."""
    failed = rows.refusals
    if failed is None or not len(failed.bytes):
        return asked
    start = int(rows.time_ns[0]) if len(rows.time_ns) else 0
    place = np.repeat(np.searchsorted(cards_of(rows), failed.device), 2)
    extra = PoolRequests(
        time=np.repeat(np.maximum(failed.time_ns - start, 0), 2),
        app=place,
        card=place,
        action=np.tile(np.array([ALLOC, FREE], np.int8), len(failed.bytes)),
        handle=int(asked.handle.max(initial=-1)) + 1 + np.repeat(np.arange(len(failed.bytes)), 2),
        bytes=np.repeat(failed.bytes, 2),
    )
    whole = PoolRequests(*(np.concatenate(both) for both in zip(asked, extra, strict=True)))
    order = np.argsort(whole.time, kind="stable")
    return PoolRequests(*(column[order] for column in whole))


def cards_of(rows: AllocationTable) -> np.ndarray:
    """Return the numbers of the cards that a trace tells of, the lowest first: int64[cards]."""
    refused = [] if rows.refusals is None else [rows.refusals.device]
    return np.unique(np.concatenate([rows.device, live_before(rows).device, *refused]))


def live_before(rows: AllocationTable) -> LiveBefore:
    """Return what was live before: the blocks that the trace tells of, else one a card with all that it says was
    live."""
    if rows.before is not None:
        return rows.before
    cards = np.unique(rows.device)
    if rows.allocated_after is None:
        return LiveBefore(np.zeros(0, np.int64), np.zeros(0, np.int64), None)
    first = np.array([np.argmax(rows.device == card) for card in cards], np.int64)
    held = rows.allocated_after[first] - rows.bytes[first]
    return LiveBefore(held[held > 0], cards[held > 0], None)


def _blocks(rows: AllocationTable, before: LiveBefore) -> np.ndarray:
    """Return the number of each row's block, those from before being the first: int64[rows]."""
    if rows.address is None:
        return _by_size(rows, before)
    live: dict[tuple[int, int], int] = {}
    if before.address is not None:
        places = zip(before.device.tolist(), before.address.tolist(), strict=True)
        live = {place: number for number, place in enumerate(places)}
    blocks, number = [], len(before.bytes)
    for size, card, address in zip(rows.bytes.tolist(), rows.device.tolist(), rows.address.tolist(), strict=True):
        known = live.pop((card, address), None) if size < 0 else None
        if known is None:
            known, number = number, number + 1
            if size > 0:
                live[card, address] = known
        blocks.append(known)
    return np.array(blocks, np.int64)


def _by_size(rows: AllocationTable, before: LiveBefore) -> np.ndarray:
    """Return the same where there are no addresses, card by card."""
    blocks = np.empty(len(rows.bytes), np.int64)
    number = len(before.bytes)
    for card in np.unique(rows.device).tolist():
        own, held = rows.device == card, np.flatnonzero(before.device == card)
        known = before.bytes[held].tolist() if rows.before is not None else []
        local = np.array(matched_by_size(rows.bytes[own].tolist(), known), np.int64)
        fresh = local >= len(known)
        blocks[own] = np.where(fresh, number + local - len(known), np.append(held, 0)[np.where(fresh, -1, local)])
        number += int(local.max(initial=-1)) + 1
    return blocks
