"""The state at the first event: the segments after the last one with every event taken back."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.expandable_segments import ExpandableSegments, Range
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import (
    AWAITED,
    CACHED,
    IN_USE,
    MIB,
    NOTHING,
    SMALL_BUFFER,
    SMALL_SIZE,
    UNMAPPED,
    Start,
    rounded_sizes,
)
from workbench.workloads.allocator_log import (
    ALLOC,
    AWAITING,
    FREE_COMPLETED,
    INACTIVE,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    AllocatorLog,
    rows_of,
)

NO_ENDS: Mapping[int, int] = {}
OwnerOf = Callable[[int, int, int], int]
"""The owner of a stream's memory at an address at an event."""


class Beginning(NamedTuple):
    """What there was before the first event."""

    start: Start
    handles: dict[int, tuple[int, int]]
    """Of the address of each block in use: its handle and its owner."""
    doubtful: dict[int, tuple[int, int]]
    """Of the address of each block of whose end nothing is told: where it ends at the least, and what follows."""
    guessed_segments: int
    """Expandable segments of which some memory belongs to a pool that no event tells."""


class _Block(NamedTuple):
    """A block in use."""

    address: int
    size: int
    """What it takes; of a block that the snapshot does not show, what its request is rounded up to."""
    awaited: bool
    known: bool
    """Whether the snapshot shows it, so that nothing of its size is a guess."""


_Piece = tuple[Range, int, int, int, int]
"""A block at the beginning: range, address, size, kind, handle."""


def beginning(
    log: AllocatorLog, settings: AllocatorSettings, owner_of: OwnerOf, assumed: Mapping[int, int] = NO_ENDS
) -> Beginning:
    """Return the layout at the first event.

    Parameters
    ----------
    settings : AllocatorSettings
        Those of the recording: they say how requests were rounded and what was split.
    owner_of : callable
        Numbers the stream and private pool of an address.
    assumed : mapping
        Where blocks end of which nothing is told; where their requests do by default.
    """
    ranges = _ranges_before(log, settings, owner_of)
    blocks = _blocks_before(log, settings)
    ends, doubtful = _ends(log, settings, ranges, blocks)
    ends |= {address: end for address, end in assumed.items() if address in doubtful}
    pieces: list[_Piece] = []
    handles: dict[int, tuple[int, int]] = {}
    used = 0
    for place in ranges:
        while used < len(blocks) and blocks[used].address < place.address:
            used += 1
        inside = used
        while inside < len(blocks) and blocks[inside].address < place.address + place.size:
            inside += 1
        pieces += _pieces(place, blocks[used:inside], ends, handles)
        used = inside
    rows = _with_unmapped(pieces, settings)
    columns = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    guessed = {place.base for place in ranges if place.is_guess}
    return Beginning(Start(*columns) if rows else NOTHING, handles, doubtful, len(guessed))


def reserved_by_event(log: AllocatorLog) -> np.ndarray:
    """Return the bytes that each event adds to those that the driver gave: int64[events]."""
    events = log.events
    grows = np.isin(events.action, (SEGMENT_ALLOC, SEGMENT_MAP)).astype(np.int64)
    return events.size * (grows - np.isin(events.action, (SEGMENT_FREE, SEGMENT_UNMAP)))


def _ranges_before(log: AllocatorLog, settings: AllocatorSettings, owner_of: OwnerOf) -> list[Range]:
    """Return the segments and mapped ranges before the first event, the lowest address first."""
    segments, events = log.segments, log.events
    columns = (segments.address, segments.size, segments.stream, segments.small, segments.expandable)
    own: dict[int, Range] = {}
    held = log.reserved_at_end - np.cumsum(reserved_by_event(log)[::-1])
    mapped = ExpandableSegments(log, settings, int(held.max(initial=log.reserved_at_end)))
    for address, size, stream, small, expandable in zip(*(c.tolist() for c in columns), strict=True):
        owner = owner_of(stream, address, len(events.action))
        if expandable:
            mapped.begin(address, size, owner, bool(small))
        else:
            own[address] = Range(address, size, owner, bool(small), -1)
    changes = np.flatnonzero(np.isin(events.action, (SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP)))
    for at in changes[::-1].tolist():
        action, address, size = int(events.action[at]), int(events.address[at]), int(events.size[at])
        owner = owner_of(int(events.stream[at]), address, at)
        if action == SEGMENT_ALLOC:
            own.pop(address, None)
        elif action == SEGMENT_FREE:
            own[address] = Range(address, size, owner, size == SMALL_BUFFER, -1)
        elif action == SEGMENT_MAP:
            mapped.take_back_map(address, size)
        else:
            mapped.take_back_unmap(address, size, owner, at)
    return sorted([*own.values(), *mapped.ranges()])


def _blocks_before(log: AllocatorLog, settings: AllocatorSettings) -> list[_Block]:
    """Return the blocks in use before the first event, the lowest address first."""
    events, blocks = log.events, log.blocks
    held = blocks.state != INACTIVE
    columns = (blocks.address[held], blocks.size[held], blocks.state[held] == AWAITING)
    live = {
        address: _Block(address, size, awaited, True)
        for address, size, awaited in zip(*(column.tolist() for column in columns), strict=True)
    }
    rounded = rounded_sizes(settings.rules(np.zeros(1, np.int64)), np.maximum(events.size, 1))
    moving = np.flatnonzero(events.action <= FREE_COMPLETED)[::-1]
    columns = (events.action[moving], events.address[moving], rounded[moving])
    for action, address, size in rows_of(*columns):
        if action == ALLOC:
            live.pop(address, None)
        elif action == FREE_COMPLETED:
            live[address] = _Block(address, size, True, False)
        elif address in live:
            # Before its free was requested, the block was in use.
            live[address] = live[address]._replace(awaited=False)
    return sorted(live.values())


def _ends(
    log: AllocatorLog, settings: AllocatorSettings, ranges: list[Range], blocks: list[_Block]
) -> tuple[dict[int, int], dict[int, tuple[int, int]]]:
    """Return the end of each block whose size the snapshot does not show, of those that could be larger than requested;
    and those whose end is unknown.

    A block of large requests keeps up to 1 MiB too much, as that is not split off. If what lies behind it is larger,
    the first allocation there, while it is still in use, began where it ends.
    """
    if settings.expandable_segments:
        return {}, {}
    split = settings.max_split_size_mb * MIB or 1 << 62
    starts = [place.address for place in ranges]
    ends, open_ends = {}, {}
    for block, after in zip_longest(blocks, blocks[1:]):
        at = bisect_right(starts, block.address) - 1
        if block.known or at < 0 or ranges[at].small or ranges[at].base >= 0:
            continue
        limit = ranges[at].address + ranges[at].size
        following = min(after.address, limit) if after else limit
        least = block.address + block.size
        # The remainder is too small to be split off, or the block may not be split: then all of it belongs to the
        # block.
        if following - least <= SMALL_SIZE or block.size >= split:
            ends[block.address] = following
        else:
            open_ends[block.address] = (least, following)
    revealed = _revealed(log, open_ends)
    return {**ends, **revealed}, {at: it for at, it in open_ends.items() if at not in revealed}


def _revealed(log: AllocatorLog, candidates: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Return the ends that the first allocation behind a block reveals."""
    if not candidates:
        return {}
    events, result = log.events, {}
    waiting = dict(candidates)
    order = sorted(waiting)
    moving = np.flatnonzero((events.action == ALLOC) | (events.action == FREE_COMPLETED))
    for action, address in rows_of(events.action[moving], events.address[moving]):
        if action == FREE_COMPLETED:
            # Once a block is free, allocations behind it do not tell where it ended.
            waiting.pop(address, None)
            continue
        before = bisect_right(order, address) - 1
        place = waiting.get(order[before]) if before >= 0 else None
        if place and place[0] <= address < place[1]:
            if address - place[0] <= SMALL_SIZE:
                result[order[before]] = address
            del waiting[order[before]]
    return result


def _pieces(
    place: Range, blocks: list[_Block], ends: dict[int, int], handles: dict[int, tuple[int, int]]
) -> list[_Piece]:
    """Return the blocks of a range and the free ones between them: (range, address, size, kind, handle)."""
    result, at = [], place.address
    for block in blocks:
        if block.address < at:
            continue
        if block.address > at:
            result.append((place, at, block.address - at, CACHED, -1))
        size = ends.get(block.address, block.address + block.size) - block.address
        handle = len(handles)
        handles[block.address] = handle, place.owner
        result.append((place, block.address, size, AWAITED if block.awaited else IN_USE, handle))
        at = block.address + size
    if at < place.address + place.size:
        result.append((place, at, place.address + place.size - at, CACHED, -1))
    return result


def _with_unmapped(pieces: list[_Piece], settings: AllocatorSettings) -> list[tuple[int, ...]]:
    """Return the rows of `Start`; what an expandable segment does not map is a piece too, up to its end."""
    rows: list[tuple[int, ...]] = []
    first = -1
    reach, large_page = settings.rules(np.zeros(1, np.int64)).reach, settings.large_segment_size_mb * MIB
    expandable: dict[int, list[_Piece]] = {}
    for piece in pieces:
        place = piece[0]
        if place.base >= 0:
            expandable.setdefault(place.base, []).append(piece)
            continue
        pool = 2 * place.owner + int(place.small)
        rows.append((piece[1], piece[2], pool, -1, piece[3], piece[4], int(place.address != first)))
        first = place.address
    for base, parts in expandable.items():
        pool, at = 2 * parts[0][0].owner + int(parts[0][0].small), base
        for _, address, size, kind, handle in parts:
            if address > at:
                rows.append((at, address - at, pool, base, UNMAPPED, -1, int(at == base)))
            rows.append((address, size, pool, base, kind, handle, int(address == base)))
            at = address + size
        end = base + -(-max(reach, at - base) // large_page) * large_page
        if end > at:
            rows.append((at, end - at, pool, base, UNMAPPED, -1, 0))
    return rows
