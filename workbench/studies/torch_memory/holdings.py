"""Who holds memory at a moment, and which blocks pin segments that would otherwise be free."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.recording import Recording
from workbench.units import bytes_said
from workbench.workloads.allocator_log import (
    ALLOC,
    FREE_COMPLETED,
    INACTIVE,
    SEGMENT_ALLOC,
    SEGMENT_FREE,
    SEGMENT_MAP,
    SEGMENT_UNMAP,
    AllocatorLog,
)

UNKNOWN_SITE = "(no stack recorded)"


class Held(NamedTuple):
    """A block in use."""

    address: int
    size: int
    site: str


class SegmentMap(NamedTuple):
    """A segment with the blocks in it that are in use."""

    address: int
    size: int
    blocks: tuple[Held, ...]

    @property
    def free(self) -> int:
        """Return the bytes of it that are in no block."""
        return max(self.size - sum(block.size for block in self.blocks), 0)

    @property
    def largest_free(self) -> int:
        """Return the longest run of such bytes."""
        edges = [self.address]
        for block in self.blocks:
            edges += [block.address, block.address + block.size]
        edges.append(self.address + self.size)
        return max((end - start for start, end in zip(edges[::2], edges[1::2], strict=True)), default=0)


class Holder(NamedTuple):
    """A group of blocks that are live at a moment."""

    name: str
    bytes: int
    blocks: int


class Pin(NamedTuple):
    """Blocks that keep segments from going back."""

    site: str
    pinned_bytes: int
    """Free bytes of the segments that they are in, shared evenly by the blocks of each."""
    bytes: int
    blocks: int


def segments_at(recording: Recording, event: int) -> list[SegmentMap]:
    """Return the segments and live blocks of a card after one of its events, as they were recorded."""
    log = recording.log
    segments, live = _begin(recording)
    events = log.events
    names = log.sites
    for at in range(event + 1):
        action, address, size = int(events.action[at]), int(events.address[at]), int(events.size[at])
        if action == ALLOC:
            live[address] = Held(address, -(-max(size, 1) // 512) * 512, _name(names, int(events.site[at])))
        elif action == FREE_COMPLETED:
            live.pop(address, None)
        elif action in (SEGMENT_ALLOC, SEGMENT_MAP):
            segments[address] = size
        elif action in (SEGMENT_FREE, SEGMENT_UNMAP):
            segments.pop(address, None)
    return _mapped(segments, live.values())


def segments_at_end(log: AllocatorLog) -> list[SegmentMap]:
    """Return the segments and live blocks of a card after its last event, as the snapshot shows them."""
    blocks = log.blocks
    held = np.flatnonzero(blocks.state != INACTIVE).tolist()
    live = [Held(int(blocks.address[k]), int(blocks.size[k]), _name(log.sites, int(blocks.site[k]))) for k in held]
    return _mapped(dict(zip(log.segments.address.tolist(), log.segments.size.tolist(), strict=True)), live)


def _name(names: Sequence[str], site: int) -> str:
    return names[site] if site >= 0 else UNKNOWN_SITE


def _begin(recording: Recording) -> tuple[dict[int, int], dict[int, Held]]:
    """Return the segments by address, and live blocks by address, before the first event."""
    start, blocks, names = recording.start, recording.log.blocks, recording.log.sites
    known = dict(zip(blocks.address.tolist(), blocks.site.tolist(), strict=True))
    segments: dict[int, int] = {}
    live: dict[int, Held] = {}
    first = 0
    for address, size, kind, is_first, handle in zip(
        *(c.tolist() for c in (start.address, start.size, start.kind, start.first, start.handle)), strict=True
    ):
        if kind == 3:
            first = -1
            continue
        if is_first or first < 0:
            first = address
        segments[first] = segments.get(first, 0) + size
        if handle >= 0:
            live[address] = Held(address, size, _name(names, known.get(address, -1)))
    return segments, live


def _mapped(segments: dict[int, int], live: Iterable[Held]) -> list[SegmentMap]:
    """Return each segment with the blocks that lie in it, the lowest address first."""
    blocks, at, maps = sorted(live), 0, []
    for address, size in sorted(segments.items()):
        while at < len(blocks) and blocks[at].address < address:
            at += 1
        inside = at
        while inside < len(blocks) and blocks[inside].address < address + size:
            inside += 1
        maps.append(SegmentMap(address, size, tuple(blocks[at:inside])))
        at = inside
    return maps


def by_site(segments: Iterable[SegmentMap]) -> list[Holder]:
    """Return who asked for what is live, the largest first."""
    return _grouped((block.site, block.size) for segment in segments for block in segment.blocks)


def by_size(segments: Iterable[SegmentMap]) -> list[Holder]:
    """Return what is live by classes of size, a power of two each, the most bytes first."""
    return _grouped((_class(block.size), block.size) for segment in segments for block in segment.blocks)


def _class(size: int) -> str:
    low = 1 << (max(size, 1).bit_length() - 1)
    return f"{bytes_said(low)} to {bytes_said(2 * low)}"


def _grouped(named: Iterable[tuple[str, int]]) -> list[Holder]:
    totals: dict[str, list[int]] = {}
    for name, size in named:
        total = totals.setdefault(name, [0, 0])
        total[0] += size
        total[1] += 1
    return sorted((Holder(name, *total) for name, total in totals.items()), key=lambda it: (-it.bytes, it.name))


def pins(segments: Iterable[SegmentMap]) -> list[Pin]:
    """Return which live blocks keep free bytes from going back, the most first.

    A segment goes back to the driver only as a whole: what is free beside a live block is pinned by it.
    """
    totals: dict[str, list[float]] = {}
    for segment in segments:
        for block in segment.blocks:
            total = totals.setdefault(block.site, [0.0, 0, 0])
            total[0] += segment.free / len(segment.blocks)
            total[1] += block.size
            total[2] += 1
    blocking = (Pin(site, round(pinned), int(size), int(count)) for site, (pinned, size, count) in totals.items())
    return sorted((pin for pin in blocking if pin.pinned_bytes), key=lambda it: (-it.pinned_bytes, it.site))
