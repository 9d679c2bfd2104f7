"""Expandable segments before the first event: mapped ranges, base addresses and pools.

An expandable segment reserves more addresses than the card has bytes. It belongs to one stream and one pool, and each
pool of a stream has one such segment at a time. The last range that is unmapped ends it; the next one begins elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import MIB, SMALL_SIZE, rounded_sizes
from workbench.workloads.allocator_log import ALLOC, FREE_COMPLETED, AllocatorLog


class Range(NamedTuple):
    """Memory that the driver had given: a segment, or a mapped range of an expandable one."""

    address: int
    size: int
    owner: int
    small: bool
    base: int
    """The first known address of the expandable segment, -1 = it is a segment of its own."""
    is_guess: bool = False
    """Whether the events do not tell its pool."""


@dataclass
class _Segment:
    """An expandable segment, while events are taken back."""

    owner: int
    small: bool | None
    """Whether it serves small requests, None = nothing tells so far."""
    low: int
    """The lowest address that was ever mapped in it."""
    high: int
    """The end of the highest range that was ever mapped in it."""
    parts: dict[int, int] = field(default_factory=dict)
    """The end of each mapped range by its address."""
    is_guess: bool = False

    def add(self, address: int, size: int) -> None:
        """Enter a mapped range."""
        self.parts[address] = address + size
        self.low, self.high = min(self.low, address), max(self.high, address + size)

    def remove(self, address: int, size: int) -> None:
        """Take a range out of the mapped ones."""
        end = address + size
        for start, stop in [it for it in self.parts.items() if it[0] < end and address < it[1]]:
            del self.parts[start]
            self.parts |= {left: right for left, right in ((start, address), (end, stop)) if left < right}

    def joined(self) -> list[tuple[int, int]]:
        """Return the address and end of each mapped range, neighbors as one."""
        result: list[tuple[int, int]] = []
        for start, stop in sorted(self.parts.items()):
            before = result.pop() if result and result[-1][1] == start else (start, start)
            result.append((before[0], stop))
        return result

    def distance(self, address: int, size: int) -> int:
        """Return the bytes between a range and the addresses that were mapped, 0 = they touch."""
        return max(self.low - address - size, address - self.high, 0)


class ExpandableSegments:
    """The expandable segments of a card, from the last event back.

    Parameters
    ----------
    log : AllocatorLog
        The history of the card.
    settings : AllocatorSettings
        The recorded settings; they tell the pages and how requests are rounded.
    card_bytes : int
        Bytes that the card has at least.
    """

    def __init__(self, log: AllocatorLog, settings: AllocatorSettings, card_bytes: int) -> None:
        self._page = settings.large_segment_size_mb * MIB
        self._segments: list[_Segment] = []
        self._reach = card_bytes + card_bytes // 8
        events = log.events
        moving = np.flatnonzero((events.action == ALLOC) | (events.action == FREE_COMPLETED))
        self._moving = moving[np.argsort(events.address[moving], kind="stable")]
        self._addresses = events.address[self._moving]
        rounded = rounded_sizes(settings.rules(np.zeros(1, np.int64)), np.maximum(events.size[self._moving], 1))
        self._is_small = rounded <= SMALL_SIZE

    def begin(self, address: int, size: int, owner: int, small: bool) -> None:
        """Enter a range that is mapped after the last event."""
        segment = next((it for it in self._segments if (it.owner, it.small) == (owner, small)), None)
        (segment or self._new(address, owner, small)).add(address, size)

    def take_back_map(self, address: int, size: int) -> None:
        """Remove a range that an event mapped; a segment without a range did not exist before."""
        for segment in self._segments:
            segment.remove(address, size)
        self._segments = [it for it in self._segments if it.parts]

    def take_back_unmap(self, address: int, size: int, owner: int, event: int) -> None:
        """Enter a range that an event unmapped."""
        small = self._is_of_small(address, size, event)
        segment = self._of(address, size, owner, small)
        segment.small = small if segment.small is None else segment.small
        segment.add(address, size)
        self._exclude(owner)

    def ranges(self) -> list[Range]:
        """Return the mapped ranges; one of a pool that nothing tells is taken for large."""
        return [
            Range(start, end - start, it.owner, bool(it.small), it.low, it.is_guess or it.small is None)
            for it in self._segments
            for start, end in it.joined()
        ]

    def _new(self, address: int, owner: int, small: bool | None) -> _Segment:
        self._segments.append(_Segment(owner, small, address, address))
        return self._segments[-1]

    def _is_of_small(self, address: int, size: int, event: int) -> bool | None:
        """Return whether a range was of the small pool, None = neither its size nor a block in it tells."""
        if size % self._page:
            return True
        first, end = np.searchsorted(self._addresses, (address, address + size))
        before = np.flatnonzero(self._moving[first:end] < event)
        if not len(before):
            return None
        last = first + before[np.argmax(self._moving[first:end][before])]
        return bool(self._is_small[last])

    def _of(self, address: int, size: int, owner: int, small: bool | None) -> _Segment:
        """Return the segment of a range; if neither its address nor its pool tells it, a near one."""
        own = [it for it in self._segments if it.owner == owner]
        able = [it for it in own if None in (it.small, small)]
        known = (
            [it for it in own if not it.distance(address, size)]
            or [it for it in own if small is not None and it.small == small]
            or [it for it in able if it.low <= address < it.low + self._reach]
        )
        if known:
            return max(known, key=lambda it: it.low)
        nearest = min(able, key=lambda it: it.distance(address, size), default=None)
        # Segments may be reserved side by side: from half their length on, the next one is as near.
        if nearest is None or nearest.distance(address, size) >= self._reach // 2:
            return self._new(address, owner, small)
        nearest.is_guess = True
        return nearest

    def _exclude(self, owner: int) -> None:
        """Settle the pool of a segment of which nothing tells it, if the stream has a segment of the other pool."""
        own = [it for it in self._segments if it.owner == owner]
        pools = {it.small for it in own} - {None}
        for segment in own:
            if segment.small is None and len(pools) == 1:
                segment.small = False in pools
