"""A snapshot without a history: what the segments of a moment tell, in words and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.studies.torch_memory.holdings import Holder, Pin, SegmentMap, by_site, by_size, pins, segments_at_end
from workbench.units import bytes_said
from workbench.workloads.allocator_log import AllocatorLog


class Still(NamedTuple):
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


def still_of(logs: Sequence[AllocatorLog], path: str) -> Still:
    """Return what the segments of a snapshot tell, all cards together."""
    maps = {log.device: segments_at_end(log) for log in logs if len(log.segments.size)}
    segments = tuple(segment for one in maps.values() for segment in one)
    reserved = sum(segment.size for segment in segments)
    free = sum(segment.free for segment in segments)
    pinned = sum(segment.pinned for segment in segments)
    return Still(
        path=path,
        segments=segments,
        reserved_bytes=reserved,
        live_bytes=reserved - free,
        largest_free_bytes=max((segment.largest_free for segment in segments), default=0),
        whole_free_bytes=free - pinned,
        pinned_free_bytes=pinned,
        cards=tuple((card, *_reserved_and_live(one)) for card, one in maps.items()),
    )


def _reserved_and_live(segments: Sequence[SegmentMap]) -> tuple[int, int]:
    reserved = sum(segment.size for segment in segments)
    return reserved, reserved - sum(segment.free for segment in segments)


def _what_helps(still: Still) -> str:
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
