"""Who holds memory at a moment, and which blocks pin memory that would otherwise go back.

Of a snapshot without a history, `SegmentSnapshot` says what the segments of its moment tell, in words and figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.advice.torch_memory.lives import Moment
from workbench.engines.torch_allocator.settings import AllocatorSettings
from workbench.engines.torch_allocator.state import MIB, SMALL_BUFFER
from workbench.number_text import bytes_said
from workbench.workloads.allocator_log import INACTIVE, AllocatorLog

UNKNOWN_SITE, BEFORE_SITE = "(no stack recorded)", "(live before the recording)"
"""Who asked for a block, where no stack says it."""


class Held(NamedTuple):
    """A block in use."""

    address: int
    size: int
    site: str


class SegmentMap(NamedTuple):
    """A segment, or a mapped stretch of an expandable one, with the blocks in it that are in use."""

    address: int
    size: int
    blocks: tuple[Held, ...]
    page: int = 0
    """Bytes of a page of an expandable segment, which goes back page by page; 0 = it goes back as a whole."""

    @property
    def free(self) -> int:
        """Return the bytes of it that are in no block."""
        return max(self.size - sum(block.size for block in self.blocks), 0)

    @property
    def pinned(self) -> int:
        """Return those of them that live blocks keep from going back to the driver."""
        return sum(free for free, _ in self.pinned_parts())

    @property
    def largest_free(self) -> int:
        """Return the longest run of free bytes."""
        edges = [self.address]
        for block in self.blocks:
            edges += [block.address, block.address + block.size]
        edges.append(self.address + self.size)
        return max((end - start for start, end in zip(edges[::2], edges[1::2], strict=True)), default=0)

    def pinned_parts(self) -> Iterator[tuple[int, Sequence[Held]]]:
        """Yield what goes back at once only, where something in it is live: its free bytes, and the live blocks."""
        if not self.page:
            if self.blocks:
                yield self.free, self.blocks
            return
        pages: dict[int, list[Held]] = {}
        for block in self.blocks:
            first = (block.address - self.address) // self.page
            last = (block.address + block.size - 1 - self.address) // self.page
            for page in {first, last}:  # in those between, nothing is free
                pages.setdefault(page, []).append(block)
        for page, blocks in sorted(pages.items()):
            start = self.address + page * self.page
            end = min(start + self.page, self.address + self.size)
            live = sum(min(it.address + it.size, end) - max(it.address, start) for it in blocks)
            yield max(end - start - live, 0), blocks


class Holder(NamedTuple):
    """A group of blocks that are live at a moment."""

    name: str
    bytes: int
    blocks: int


class Pin(NamedTuple):
    """Blocks that keep segments from going back."""

    site: str
    pinned_bytes: int
    """Free bytes of the segments, or pages of expandable ones, that they are in, shared evenly by each one's blocks."""
    bytes: int
    blocks: int


def segments_at(moment: Moment, sites: Sequence[str]) -> list[SegmentMap]:
    """Return the segments and live blocks of a card at a moment of its history, the lowest address first.

    Parameters
    ----------
    moment : Moment
        Of `moment_of`.
    sites : sequence of str
        The names of `AllocatorLog.sites`.
    """
    columns = (moment.address, moment.size, moment.site, moment.born)
    live = [
        Held(at, size, _name(sites, site) if site >= 0 or born else BEFORE_SITE)
        for at, size, site, born in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return _mapped(zip(*(c.tolist() for c in moment[1:4]), strict=True), live)


def segments_at_end(log: AllocatorLog) -> list[SegmentMap]:
    """Return the segments and live blocks of a card after its last event, as the snapshot shows them."""
    blocks, segments = log.blocks, log.segments
    held = np.flatnonzero(blocks.state != INACTIVE).tolist()
    live = [Held(int(blocks.address[k]), int(blocks.size[k]), _name(log.sites, int(blocks.site[k]))) for k in held]
    large = AllocatorSettings.recorded(log.settings).large_segment_size_mb * MIB
    pages = np.where(segments.expandable, np.where(segments.small, SMALL_BUFFER, large), 0)
    return _mapped(zip(segments.address.tolist(), segments.size.tolist(), pages.tolist(), strict=True), live)


def _name(names: Sequence[str], site: int) -> str:
    return names[site] if site >= 0 else UNKNOWN_SITE


def _mapped(segments: Iterable[tuple[int, int, int]], live: Iterable[Held]) -> list[SegmentMap]:
    """Return each segment with the blocks that lie in it, the lowest address first."""
    blocks, at, maps = sorted(live), 0, []
    for address, size, page in sorted(segments):
        while at < len(blocks) and blocks[at].address < address:
            at += 1
        inside = at
        while inside < len(blocks) and blocks[inside].address < address + size:
            inside += 1
        maps.append(SegmentMap(address, size, tuple(blocks[at:inside]), page))
        at = inside
    return maps


def by_site(segments: Iterable[SegmentMap]) -> list[Holder]:
    """Return who asked for what is live, the largest first."""
    return _grouped((block.site, block.size) for segment in segments for block in segment.blocks)


class Frame(NamedTuple):
    """A frame of a program with all that is live below it."""

    name: str
    bytes: int
    inner: tuple[Frame, ...]
    """The frames that it called, the most bytes first."""


def by_stack(moment: Moment, log: AllocatorLog) -> Frame:
    """Return what is live at a moment by the frames of the program that led there, from the outside in."""
    names = [path or (site,) for path, site in zip(log.callers, log.sites, strict=True)]
    other = {True: (BEFORE_SITE,), False: (UNKNOWN_SITE,)}
    paths = [
        names[site] if site >= 0 else other[born == 0] for site, born in zip(moment.site, moment.born, strict=True)
    ]
    return _framed("live", list(zip(paths, moment.size.tolist(), strict=True)), 0)


def _framed(name: str, paths: list[tuple[tuple[str, ...], int]], depth: int) -> Frame:
    below: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for path, size in paths:
        if depth < len(path):
            below.setdefault(path[depth], []).append((path, size))
    inner = sorted((_framed(first, rest, depth + 1) for first, rest in below.items()), key=lambda it: -it.bytes)
    return Frame(name, sum(size for _, size in paths), tuple(inner))


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

    A segment goes back to the driver only as a whole, an expandable one page by page: what is free beside a live block
    in it is pinned by that.
    """
    totals: dict[str, list[float]] = {}
    counted: set[Held] = set()
    for free, blocks in (part for segment in segments for part in segment.pinned_parts()):
        for block in blocks:
            total = totals.setdefault(block.site, [0.0, 0, 0])
            total[0] += free / len(blocks)
            if block not in counted:
                counted.add(block)
                total[1] += block.size
                total[2] += 1
    blocking = (Pin(site, round(pinned), int(size), int(count)) for site, (pinned, size, count) in totals.items())
    return sorted((pin for pin in blocking if pin.pinned_bytes), key=lambda it: (-it.pinned_bytes, it.site))


class SegmentSnapshot(NamedTuple):
    """Memory at one moment."""

    path: str
    segments: tuple[SegmentMap, ...]
    reserved_bytes: int
    live_bytes: int
    largest_free_bytes: int
    """The longest run of free bytes in any segment: no larger request fits without the driver."""
    whole_free_bytes: int
    """Of segments, and pages of expandable ones, that are free as a whole: they go back when the driver has too
    little."""
    pinned_free_bytes: int
    """Free bytes of segments and pages in which something is live, which do not."""
    cards: tuple[tuple[int, int, int], ...] = ()
    """Of each card its number, reserved and live bytes."""

    def holders(self) -> list[Holder]:
        """Return who asked for what is live."""
        return by_site(self.segments)

    def pins(self) -> list[Pin]:
        """Return which live blocks keep free bytes from going back."""
        return pins(self.segments)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types."""
        figures = {name: value for name, value in self._asdict().items() if name not in ("path", "segments")}
        return {
            "file": self.path,
            "history": False,
            "segments": len(self.segments),
            **figures,
            "holders": [holder._asdict() for holder in self.holders()[:30]],
            "sizes": [holder._asdict() for holder in by_size(self.segments)],
            "pins": [pin._asdict() for pin in self.pins()[:30]],
            "sentences": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """Return what the moment tells."""
        free = self.reserved_bytes - self.live_bytes
        messages = [
            f"{self.path}: the segments of a moment and no history: nothing can be replayed, this is what they tell.",
            f"{bytes_said(self.reserved_bytes)} reserved in {len(self.segments):,} segments{self._of_cards()}, "
            f"{bytes_said(self.live_bytes)} live, {bytes_said(free)} free; the longest free run has "
            f"{bytes_said(self.largest_free_bytes)}.",
            f"{bytes_said(self.whole_free_bytes)} are in segments that are free as a whole and go back before a "
            f"request fails; {bytes_said(self.pinned_free_bytes)} are pinned by live blocks beside them.",
        ]
        results = self.pins()
        if results:
            first = ", ".join(f"{pin.site} {bytes_said(pin.pinned_bytes)}" for pin in results[:3])
            messages.append(f"Pinned by {first}.")
        return [*messages, _what_helps(self)]

    def _of_cards(self) -> str:
        """Return how what is added up is shared by several cards."""
        if len(self.cards) < 2:
            return ""
        shares = (f"GPU {card} {bytes_said(size)}, of them {bytes_said(live)} live" for card, size, live in self.cards)
        return f" of {len(self.cards)} cards together ({'; '.join(shares)})"


def segment_snapshot_of(logs: Sequence[AllocatorLog], path: str) -> SegmentSnapshot:
    """Return what the segments of a snapshot tell, all cards together."""
    maps = {log.device: segments_at_end(log) for log in logs if len(log.segments.size)}
    segments = tuple(segment for one in maps.values() for segment in one)
    reserved, live = _reserved_and_live(segments)
    pinned = sum(segment.pinned for segment in segments)
    return SegmentSnapshot(
        path=path,
        segments=segments,
        reserved_bytes=reserved,
        live_bytes=live,
        largest_free_bytes=max((segment.largest_free for segment in segments), default=0),
        whole_free_bytes=reserved - live - pinned,
        pinned_free_bytes=pinned,
        cards=tuple((card, *_reserved_and_live(one)) for card, one in maps.items()),
    )


def _reserved_and_live(segments: Sequence[SegmentMap]) -> tuple[int, int]:
    reserved = sum(segment.size for segment in segments)
    return reserved, reserved - sum(segment.free for segment in segments)


def _what_helps(still: SegmentSnapshot) -> str:
    """Return which setting would have helped, as far as a moment can say it."""
    if still.reserved_bytes and still.pinned_free_bytes > 0.05 * still.reserved_bytes:
        if all(segment.page for segment in still.segments):
            return "Its segments are expandable already: what is pinned lies beside live blocks of the same page."
        return (
            "expandable_segments:True would have let most of the pinned memory go back or be used for larger requests: "
            "its pages go back one by one; how much, a history would tell: torch.cuda.memory._record_memory_history()."
        )
    if still.reserved_bytes and still.live_bytes > 0.95 * still.reserved_bytes:
        return "Nearly all that is reserved is live: no setting of the allocator makes room, less must be held."
    return "Little is pinned: what is free goes back to the driver by itself before a request fails."
