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
from workbench.workloads.allocator_log import INACTIVE, NO_POOL, AllocatorLog

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
    pool: tuple[int, int] = NO_POOL
    """The id of the private pool (a CUDA graph's, a MemPool) that it is of."""
    site: str = UNKNOWN_SITE
    """The line for which the driver gave it."""

    @property
    def free(self) -> int:
        """Return the bytes of it that are in no block."""
        return max(self.size - sum(block.size for block in self.blocks), 0)

    @property
    def pinned(self) -> int:
        """Return those of them that live blocks keep from going back to the driver."""
        return sum(free for free, _ in self.pinned_parts())

    @property
    def pooled(self) -> int:
        """Return those of them that nothing but a private pool keeps from going back."""
        return 0 if self.pool == NO_POOL else self.free - self.pinned

    @property
    def largest_free(self) -> int:
        """Return the longest run of free bytes."""
        edges = [self.address]
        for block in self.blocks:
            edges += [block.address, block.address + block.size]
        edges.append(self.address + self.size)
        return max((end - start for start, end in zip(edges[::2], edges[1::2], strict=True)), default=0)

    def pinned_parts(self) -> Iterator[tuple[int, Sequence[Held]]]:
        """Yield the memory that goes back at once only, where something in it is live: its free bytes, and the live
        blocks."""
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


class Free(NamedTuple):
    """Free bytes of segments by what becomes of them when the driver has too little."""

    returns: int
    """They go back by themselves."""
    pinned: int
    """Live blocks of the same segment or page keep them."""
    pooled: int
    """A private pool keeps them: a CUDA graph's, a MemPool."""

    @property
    def total(self) -> int:
        """Return all free bytes."""
        return sum(self)


class IdlePool(NamedTuple):
    """A private pool with segments or pages that are free as a whole."""

    pool: tuple[int, int]
    bytes: int
    """Their bytes."""
    site: str
    """The line that most of them were got for; where no stack tells it, that of most of its live bytes."""


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


def segments_at(moment: Moment, log: AllocatorLog) -> list[SegmentMap]:
    """Return the segments and live blocks of a card at a moment of its history, the lowest address first.

    Parameters
    ----------
    moment : Moment
        Of `moment_of`.
    log : AllocatorLog
        The history: it names sites and private pools.
    """
    sites = log.sites
    columns = (moment.address, moment.size, moment.site, moment.born)
    live = [
        Held(at, size, _name(sites, site) if site >= 0 or born else BEFORE_SITE)
        for at, size, site, born in zip(*(column.tolist() for column in columns), strict=True)
    ]
    return _mapped(log, moment[1:6], live)


def segments_at_end(log: AllocatorLog) -> list[SegmentMap]:
    """Return the segments and live blocks of a card after its last event, as the snapshot shows them."""
    blocks, segments = log.blocks, log.segments
    held = np.flatnonzero(blocks.state != INACTIVE).tolist()
    live = [Held(int(blocks.address[k]), int(blocks.size[k]), _name(log.sites, int(blocks.site[k]))) for k in held]
    large = AllocatorSettings.recorded(log.settings).large_segment_size_mb * MIB
    pages = np.where(segments.expandable, np.where(segments.small, SMALL_BUFFER, large), 0)
    return _mapped(log, (segments.address, segments.size, pages, segments.pool, segments.site), live)


def _name(names: Sequence[str], site: int) -> str:
    return names[site] if site >= 0 else UNKNOWN_SITE


def _mapped(log: AllocatorLog, columns: Sequence[np.ndarray], live: Iterable[Held]) -> list[SegmentMap]:
    """Return each segment with the blocks that lie in it, the lowest address first.

    Parameters
    ----------
    columns : sequence of int64[segments]
        Address, size, page, pool and site of each.
    """
    blocks, at, maps = sorted(live), 0, []
    for address, size, page, pool, site in sorted(zip(*(column.tolist() for column in columns), strict=True)):
        while at < len(blocks) and blocks[at].address < address:
            at += 1
        inside = at
        while inside < len(blocks) and blocks[inside].address < address + size:
            inside += 1
        held = tuple(blocks[at:inside])
        maps.append(SegmentMap(address, size, held, page, log.pools[pool], _name(log.sites, site)))
        at = inside
    return maps


def free_of(segments: Iterable[SegmentMap]) -> Free:
    """Return the free bytes of segments by what becomes of them when the driver has too little."""
    parts = [(it.free, it.pinned, it.pooled) for it in segments]
    free, pinned, pooled = (sum(column) for column in zip(*parts, strict=True)) if parts else (0, 0, 0)
    return Free(free - pinned - pooled, pinned, pooled)


def idle_pools(segments: Sequence[SegmentMap]) -> list[IdlePool]:
    """Return the private pools that keep memory in which nothing is live, the most bytes first."""
    idle: dict[tuple[int, int], dict[str, int]] = {}
    live: dict[tuple[int, int], dict[str, int]] = {}
    for segment in segments:
        if segment.pooled:
            own = idle.setdefault(segment.pool, {})
            own[segment.site] = own.get(segment.site, 0) + segment.pooled
        for block in segment.blocks if segment.pool != NO_POOL else ():
            own = live.setdefault(segment.pool, {})
            own[block.site] = own.get(block.site, 0) + block.size
    result = [IdlePool(pool, sum(sites.values()), _filler(sites, live.get(pool, {}))) for pool, sites in idle.items()]
    return sorted(result, key=lambda it: (-it.bytes, it.pool))


def _filler(idle: dict[str, int], live: dict[str, int]) -> str:
    """Return the line with the most bytes, of the idle segments or else of the live blocks."""
    for sites in (idle, live):
        named = [site for site in sites if not site.startswith("(")]
        if named:
            return max(named, key=lambda site: sites[site])
    return UNKNOWN_SITE


def by_site(segments: Iterable[SegmentMap]) -> list[Holder]:
    """Return the holders of what is live, the largest first."""
    return _grouped((block.site, block.size) for segment in segments for block in segment.blocks)


class Frame(NamedTuple):
    """A frame of a program with all that is live below it."""

    name: str
    bytes: int
    inner: tuple[Frame, ...]
    """The frames that it called, the most bytes first."""


def by_stack(moment: Moment, log: AllocatorLog) -> Frame:
    """Return the live memory at a moment by the frames of the program that led there, from the outside in."""
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
    """Return the live memory by classes of size, a power of two each, the most bytes first."""
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
    """Return the live blocks that keep free bytes from going back, the most first.

    A segment goes back to the driver only as a whole, an expandable one page by page: a live block in it pins the free
    bytes around it.
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
    """Memory of one card at one moment, and of the other cards of the same file."""

    path: str
    device: int
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
    pooled_free_bytes: int
    """Of private pools what is free as a whole: it does not go back while a pool is in use."""
    by_segment: bool = False
    """Whether blocks have no stacks: then a block is of the line that its segment was got for."""
    others: tuple[SegmentSnapshot, ...] = ()
    """The other cards, the most reserved first."""

    def holders(self) -> list[Holder]:
        """Return the holders of what is live."""
        return by_site(self.segments)

    def pins(self) -> list[Pin]:
        """Return the live blocks that keep free bytes from going back."""
        return pins(self.segments)

    def plain(self) -> dict[str, Any]:
        """Return everything as plain types: of the first card, then under `cards` of each; no sum over cards."""
        return {
            "file": self.path,
            "history": False,
            **self._figures(),
            "cards": [card._figures() for card in (self, *self.others)],
            "sentences": self.sentences(),
        }

    def _figures(self) -> dict[str, Any]:
        left_out = ("path", "segments", "others")
        return {
            **{name: value for name, value in self._asdict().items() if name not in left_out},
            "segments": len(self.segments),
            "holders": [holder._asdict() for holder in self.holders()[:30]],
            "sizes": [holder._asdict() for holder in by_size(self.segments)],
            "pins": [pin._asdict() for pin in self.pins()[:30]],
        }

    def sentences(self) -> list[str]:
        """Return the facts of the moment."""
        messages = [
            f"{self.path}: the segments of a moment and no history: nothing can be replayed, this is what they tell.",
            f"{self._held()}; the longest free run has {bytes_said(self.largest_free_bytes)}.",
            f"{bytes_said(self.whole_free_bytes)} are in segments that are free as a whole and go back before a "
            f"request fails; {bytes_said(self.pinned_free_bytes)} are pinned by live blocks beside them; "
            f"{bytes_said(self.pooled_free_bytes)} are kept by private pools.",
            *self._named_holders(),
        ]
        results = self.pins()
        if results:
            first = ", ".join(f"{pin.site} {bytes_said(pin.pinned_bytes)}" for pin in results[:3])
            messages.append(f"Pinned by {first}.")
        return [*messages, _what_helps(self), *(f"{card._held()}." for card in self.others)]

    def _held(self) -> str:
        free = self.reserved_bytes - self.live_bytes
        return (
            f"GPU {self.device}: {bytes_said(self.reserved_bytes)} reserved in {len(self.segments):,} segments, "
            f"{bytes_said(self.live_bytes)} live, {bytes_said(free)} free"
        )

    def _named_holders(self) -> list[str]:
        """Return the holders of what is live, and the line that filled a private pool that is idle."""
        first = [it for it in self.holders() if not it.name.startswith("(")][:3]
        how = " (by the frames of their segments)" if self.by_segment else ""
        named = ", ".join(f"{it.name} {bytes_said(it.bytes)}" for it in first)
        pools = [
            f"{it.site} filled a private pool that keeps {bytes_said(it.bytes)}." for it in idle_pools(self.segments)
        ]
        return [*([f"Live: {named}{how}."] if first else []), *pools[:1]]


def segment_snapshot_of(logs: Sequence[AllocatorLog], path: str) -> SegmentSnapshot:
    """Return the facts in the segments of a snapshot, the card with most reserved bytes first."""
    by_segment = all((log.blocks.site[log.blocks.state != INACTIVE] < 0).all() for log in logs)
    cards = [_of_card(log, path, by_segment) for log in logs if len(log.segments.size)]
    first, *others = sorted(cards, key=lambda card: (-card.reserved_bytes, card.device))
    return first._replace(others=tuple(others))


def _of_card(log: AllocatorLog, path: str, by_segment: bool) -> SegmentSnapshot:
    segments = segments_at_end(log)
    if by_segment:
        segments = [_by_its_site(it) for it in segments]
    free = free_of(segments)
    reserved = sum(segment.size for segment in segments)
    return SegmentSnapshot(
        path=path,
        device=log.device,
        segments=tuple(segments),
        reserved_bytes=reserved,
        live_bytes=reserved - free.total,
        largest_free_bytes=max((segment.largest_free for segment in segments), default=0),
        whole_free_bytes=free.returns,
        pinned_free_bytes=free.pinned,
        pooled_free_bytes=free.pooled,
        by_segment=by_segment,
    )


def _by_its_site(segment: SegmentMap) -> SegmentMap:
    return segment._replace(blocks=tuple(block._replace(site=segment.site) for block in segment.blocks))


def _what_helps(still: SegmentSnapshot) -> str:
    """Return the setting that would have helped, as far as a moment can say it."""
    if still.reserved_bytes and still.pinned_free_bytes > 0.05 * still.reserved_bytes:
        if all(segment.page for segment in still.segments):
            return "Its segments are expandable already: what is pinned lies beside live blocks of the same page."
        return (
            "expandable_segments:True would have let most of the pinned memory go back or be used for larger requests: "
            "its pages go back one by one; how much, a history would tell: torch.cuda.memory._record_memory_history()."
        )
    if still.reserved_bytes and still.live_bytes > 0.95 * still.reserved_bytes:
        return "Nearly all that is reserved is live: no setting of the allocator makes room, less must be held."
    if still.pooled_free_bytes > 0.05 * still.reserved_bytes:
        return "What a private pool keeps goes back once its graph or the pool is deleted."
    return "Little is pinned: what is free goes back to the driver by itself before a request fails."
