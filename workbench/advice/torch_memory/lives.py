"""A recorded history as lives: every block and every segment, from which event to which it was there.

What is there after any number of events is one comparison of columns, so a moment of a long history costs no more than
one of a short one with as many blocks. A moment is what a card's allocator holds then: its segments, the blocks in
them, what is free.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator import state as rows
from workbench.engines.torch_allocator.recording import Recording
from workbench.engines.torch_allocator.replay import Replay
from workbench.engines.torch_allocator.state import rounded_sizes
from workbench.workloads.allocator_log import (
    ALLOC,
    FREE_COMPLETED,
    FREE_REQUESTED,
    INACTIVE,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    AllocatorLog,
    rows_of,
)


class BlockLives(NamedTuple):
    """One row a block that was in use at any time; it is there after `born` events, and no more after `gone`."""

    address: np.ndarray
    size: np.ndarray
    """int64[blocks], bytes that it takes, with what was too little to be split off."""
    site: np.ndarray
    """int64[blocks], which of `AllocatorLog.sites` asked, -1 = no stack was recorded."""
    born: np.ndarray
    """int64[blocks], 0 = before the first event."""
    awaited: np.ndarray
    """int64[blocks], after how many events it was freed, though other streams may still have used it."""
    gone: np.ndarray
    """int64[blocks], `NEVER` = it is there after the last event."""


class SegmentLives(NamedTuple):
    """One row a segment, or a mapped part of an expandable one."""

    address: np.ndarray
    size: np.ndarray
    page: np.ndarray
    """int64[segments], bytes of a page of the expandable segment that it is a part of, one with its neighbors; 0 = a
    segment of its own."""
    pool: np.ndarray
    """int64[segments], which of `AllocatorLog.pools`."""
    site: np.ndarray
    """int64[segments], which of `AllocatorLog.sites` asked when the driver gave it, -1 = not told."""
    born: np.ndarray
    gone: np.ndarray


class Lives(NamedTuple):
    """The history of one card."""

    events: int
    blocks: BlockLives
    segments: SegmentLives


NEVER = np.iinfo(np.int64).max
"""After how many events what is there at the end is gone."""


def lives_of(replay: Replay) -> Lives:
    """Return the lives of all blocks and segments of a card's history.

    A block takes what it takes in the replay; where the replay put it elsewhere, its request as it is rounded.

    Parameters
    ----------
    replay : Replay
        Of `workbench.engines.torch_allocator.replay.replay_of`.

    Returns
    -------
    Lives
        In the order in which they ended; what is there at the end comes last.

    Examples
    --------
    >>> from pathlib import Path
    >>> from workbench.workloads.importers.source import Source
    >>> from workbench.workloads.importers.torch_snapshot import read_snapshot
    >>> from workbench.engines.torch_allocator.replay import replay_of
    >>> log = read_snapshot(Source(Path("data/made_up_snapshot.pickle.gz"))).logs[0]
    >>> lives = lives_of(replay_of(log))
    >>> lives.events, int((lives.segments.gone == NEVER).sum()) == len(log.segments.size)
    (1842, True)
    """
    recording = replay.recording
    log = recording.log
    kept = _Kept(recording)
    events = log.events
    telling = np.flatnonzero(events.action <= SEGMENT_UNMAP)
    columns = (events.action, events.address, events.size, _block_sizes(replay), _pools(recording), events.site)
    for at, action, *what in rows_of(telling, *(column[telling] for column in columns)):
        kept.enter(at + 1, action, *what)
    return Lives(len(events.action), kept.blocks(log), kept.segments())


def _block_sizes(replay: Replay) -> np.ndarray:
    """Return the bytes of the block that each allocation got: int64[events]."""
    recording, played = replay.recording, replay.played
    rules = recording.settings.rules(recording.private)
    result = rounded_sizes(rules, np.maximum(recording.log.events.size, 1))
    known = (recording.expected >= 0) & (played.placed == recording.expected)
    result[recording.event[known]] = played.taken[known]
    return result


def _pools(recording: Recording) -> np.ndarray:
    """Return the private pool of the next allocation, for which the driver gives segments: int64[events]."""
    gets = np.flatnonzero(recording.requests.kind == rows.ALLOC)
    pool = recording.private[recording.requests.owner[gets]]
    events = np.arange(len(recording.log.events.action))
    following = np.searchsorted(recording.event[gets], events)
    return np.concatenate([pool, np.zeros(1, np.int64)])[following]


class _Kept:
    """What is there while the events are walked through, and what is there no more."""

    def __init__(self, recording: Recording) -> None:
        self._live: dict[int, list[int]] = _blocks_before(recording)
        self._ended = array("q")
        self._ranges = _Ranges()
        self._large_page = recording.settings.large_segment_size_mb * rows.MIB
        _enter_ranges_before(recording, self._ranges)

    def enter(self, after: int, action: int, address: int, size: int, taken: int, pool: int, site: int) -> None:
        """Take one event, the number `after` from the first."""
        if action == ALLOC:
            self._end(address, after)
            self._live[address] = [address, taken, site, after, NEVER]
        elif action == FREE_REQUESTED and address in self._live:
            self._live[address][4] = after
        elif action == FREE_COMPLETED:
            self._end(address, after)
        elif action in (SEGMENT_ALLOC, SEGMENT_MAP):
            page = rows.SMALL_BUFFER if size == rows.SMALL_BUFFER else self._large_page
            self._ranges.begin(address, size, (page if action == SEGMENT_MAP else 0, pool, site), after)
        elif action in (SEGMENT_FREE, SEGMENT_UNMAP):
            self._ranges.end(address, size, after)

    def blocks(self, log: AllocatorLog) -> BlockLives:
        """Return the lives of blocks; those that the snapshot shows take what it says."""
        held = log.blocks.state != INACTIVE
        known = dict(zip(log.blocks.address[held].tolist(), log.blocks.size[held].tolist(), strict=True))
        last = [(at, known.get(at, size), *more, NEVER) for at, size, *more in self._live.values()]
        ended = np.frombuffer(self._ended, np.int64).reshape(-1, len(BlockLives._fields)).T
        there = _columns(last, len(BlockLives._fields))
        return BlockLives(*(np.concatenate(both) for both in zip(ended, there, strict=True)))

    def segments(self) -> SegmentLives:
        """Return the lives of segments and mapped parts."""
        return SegmentLives(*_columns(self._ranges.lives(), len(SegmentLives._fields)))

    def _end(self, address: int, after: int) -> None:
        block = self._live.pop(address, None)
        if block is not None:
            self._ended.extend((*block, after))


_Kind = tuple[int, int, int]
"""The page, the pool and the site of a range, as of `SegmentLives`."""


class _Ranges:
    """The memory that the driver has given, in ranges that do not overlap; one that goes back in part is cut."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._held: dict[int, tuple[int, _Kind, int]] = {}
        self._ended: list[tuple[int, ...]] = []

    def begin(self, address: int, size: int, kind: _Kind, after: int) -> None:
        """Enter a range; what was there of it, against all reason, ends."""
        self.end(address, size, after)
        self._enter(address, size, kind, after)

    def end(self, address: int, size: int, after: int) -> None:
        """Let a range end; of the ranges in which it lies the other parts stay."""
        end, at = address + size, max(bisect_left(self._starts, address + 1) - 1, 0)
        starts = self._starts[at : bisect_left(self._starts, end)]
        touched = [it for it in starts if it + self._held[it][0] > address]
        for start in touched:
            length, kind, born = self._held.pop(start)
            del self._starts[bisect_left(self._starts, start)]
            low, high = max(start, address), min(start + length, end)
            self._ended.append((low, high - low, *kind, born, after))
            for first, stop in ((start, low), (high, start + length)):
                if stop > first:
                    self._enter(first, stop - first, kind, born)

    def lives(self) -> list[tuple[int, ...]]:
        """Return all ranges, those that are there still with `NEVER`."""
        held = ((at, *self._held[at]) for at in self._starts)
        return [*self._ended, *((at, size, *kind, born, NEVER) for at, size, kind, born in held)]

    def _enter(self, address: int, size: int, kind: _Kind, born: int) -> None:
        insort(self._starts, address)
        self._held[address] = size, kind, born


def _blocks_before(recording: Recording) -> dict[int, list[int]]:
    """Return the blocks in use before the first event by address, each as address, size, site, born and awaited."""
    start, blocks = recording.start, recording.log.blocks
    sites = dict(zip(blocks.address.tolist(), blocks.site.tolist(), strict=True))
    events = recording.log.events  # who frees a block need not have asked for it
    sites |= dict.fromkeys(events.address[events.action == FREE_COMPLETED].tolist(), -1)
    held = start.handle >= 0
    columns = (start.address[held], start.size[held], start.kind[held])
    return {
        address: [address, size, sites.get(address, -1), 0, 0 if kind == rows.AWAITED else NEVER]
        for address, size, kind in zip(*(column.tolist() for column in columns), strict=True)
    }


def _enter_ranges_before(recording: Recording, ranges: _Ranges) -> None:
    """Enter the segments before the first event, and those whose own event was cut off before it."""
    start, supply = recording.start, recording.supply
    large = recording.settings.large_segment_size_mb * rows.MIB
    first, sizes, kinds = 0, dict[int, int](), dict[int, _Kind]()
    segments, events = recording.log.segments, recording.log.events
    sites = dict(zip(segments.address.tolist(), segments.site.tolist(), strict=True))
    sites |= dict.fromkeys(events.address[events.action == SEGMENT_ALLOC].tolist(), -1)  # a later one lies there
    columns = (start.address, start.size, start.kind, start.base, start.first, start.pool)
    unmapped = False
    for address, size, kind, base, is_first, pool in zip(*(column.tolist() for column in columns), strict=True):
        if kind == rows.UNMAPPED:
            unmapped = True
            continue
        if is_first or unmapped:
            first, unmapped = address, False
        sizes[first] = sizes.get(first, 0) + size
        page = 0 if base < 0 else (rows.SMALL_BUFFER if pool & 1 else large)
        kinds[first] = page, int(recording.private[pool >> 1]), sites.get(first, -1)
    for address, size in sizes.items():
        ranges.begin(address, size, kinds[address], 0)
    for address, size in zip(supply.address[: recording.implied], supply.size[: recording.implied], strict=True):
        ranges.begin(int(address), int(size), (0, 0, -1), 0)


def _columns(table: list[tuple[int, ...]], count: int) -> list[np.ndarray]:
    return [np.array(column, np.int64) for column in zip(*table, strict=True)] or [np.zeros(0, np.int64)] * count


def live_bytes(lives: Lives) -> np.ndarray:
    """Return the bytes in blocks after each event, and before the first: int64[events + 1]."""
    change = np.zeros(lives.events + 1, np.int64)
    blocks = lives.blocks
    np.add.at(change, blocks.born, blocks.size)
    ended = blocks.gone <= lives.events
    np.subtract.at(change, blocks.gone[ended], blocks.size[ended])
    result: np.ndarray = np.cumsum(change)
    return result


class Moment(NamedTuple):
    """Memory after `after` events, in the order of addresses."""

    after: int
    segment_address: np.ndarray
    segment_size: np.ndarray
    segment_page: np.ndarray
    """int64[segments], bytes of a page of an expandable segment, 0 = it goes back as a whole."""
    segment_pool: np.ndarray
    """int64[segments], which of `AllocatorLog.pools`."""
    segment_site: np.ndarray
    """int64[segments], which of `AllocatorLog.sites` asked for it or, of several parts, for the first."""
    address: np.ndarray
    """int64[blocks]."""
    size: np.ndarray
    site: np.ndarray
    born: np.ndarray
    """int64[blocks], after how many events it was allocated, 0 = before the first."""
    is_awaited: np.ndarray
    """bool[blocks], whether it is freed and other streams may still use it."""
    life: np.ndarray
    """int64[blocks], which of `Lives.blocks`."""

    @property
    def reserved_bytes(self) -> int:
        """Return the bytes that the driver has given."""
        return int(self.segment_size.sum())

    @property
    def block_bytes(self) -> int:
        """Return the bytes that blocks in use take."""
        return int(self.size.sum())

    @property
    def largest_free_bytes(self) -> int:
        """Return the longest run of free bytes in any segment."""
        return int(self.free_runs()[1].max(initial=0))

    def free_runs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the free runs: the address and the size of each, none across two segments."""
        ends = self.segment_address + self.segment_size
        edges = np.concatenate([self.segment_address, self.address + self.size])
        until = np.concatenate([self.address, ends])
        edges, until = np.sort(edges), np.sort(until)
        size = np.maximum(until - edges, 0)
        return edges[size > 0], size[size > 0]


def moment_of(lives: Lives, after: int) -> Moment:
    """Return the bytes after so many events.

    Parameters
    ----------
    lives : Lives
        Of `lives_of`.
    after : int
        From 0, before the first event, to `lives.events`.

    Returns
    -------
    Moment
        Mapped parts of expandable segments that touch are one segment, as PyTorch shows them.

    Examples
    --------
    >>> from workbench.advice.torch_memory.lives import NEVER, BlockLives, SegmentLives
    >>> segments = SegmentLives(*(np.array([k]) for k in (0, 2048, 0, 0, -1, 1, NEVER)))
    >>> blocks = BlockLives(*(np.array([k]) for k in (512, 1024, -1, 2, NEVER, 4)))
    >>> lives = Lives(5, blocks, segments)
    >>> [moment_of(lives, after).block_bytes for after in range(6)]
    [0, 0, 1024, 1024, 0, 0]
    >>> moment_of(lives, 2).free_runs()
    (array([   0, 1536]), array([512, 512]))
    """
    blocks, segments = lives.blocks, lives.segments
    life = np.flatnonzero((blocks.born <= after) & (after < blocks.gone))
    life = life[np.argsort(blocks.address[life], kind="stable")]
    held = np.flatnonzero((segments.born <= after) & (after < segments.gone))
    held = held[np.argsort(segments.address[held], kind="stable")]
    address, size, page, pool, site = _joined(*(column[held] for column in segments[:5]))
    return Moment(
        after=after,
        segment_address=address,
        segment_size=size,
        segment_page=page,
        segment_pool=pool,
        segment_site=site,
        address=blocks.address[life],
        size=blocks.size[life],
        site=blocks.site[life],
        born=blocks.born[life],
        is_awaited=blocks.awaited[life] <= after,
        life=life,
    )


def _joined(
    address: np.ndarray, size: np.ndarray, page: np.ndarray, pool: np.ndarray, site: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return neighbors of a pool that touch and are mapped in pages of one size as one: addresses, sizes, pages, pools
    and sites."""
    touches = np.zeros(len(address), bool)
    touches[1:] = (address[1:] == address[:-1] + size[:-1]) & (page[1:] > 0) & (page[1:] == page[:-1])
    touches[1:] &= pool[1:] == pool[:-1]
    first = np.flatnonzero(~touches)
    joined = np.add.reduceat(size, first) if len(first) else size
    return address[first], joined, page[first], pool[first], site[first]
