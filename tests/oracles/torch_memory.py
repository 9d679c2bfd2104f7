"""What a memory snapshot tells of one card, by sets of small pieces: slow, and blind to how ranges were joined.

Segments are walked backwards from the end, straight from the snapshot's own dictionaries, mapped memory in pieces of 2
MiB. Blocks are walked forward: an allocation takes what lies free from its recorded address on, unless enough is left
over to be split off. No request is searched for: nothing here knows where an allocator would have put it.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterator
from typing import Any, NamedTuple

MIB = 1 << 20
PAGE, BLOCK = 2 * MIB, 512
LARGE_PAGE = 20 * MIB
NO_POOL = (0, 0)


class Held(NamedTuple):
    """What a card holds after some events."""

    segments: dict[int, int]
    """Of the address of each segment of its own: its bytes."""
    mapped: frozenset[int]
    """The mapped pieces of expandable segments, as multiples of 2 MiB."""
    live: dict[int, int]
    """Of the address of each block in use: its bytes, with the rest that was too little to be split off."""
    frames: dict[int, Any]
    """Of the address of each block in use: the frames that asked for it, None = nothing tells them."""
    doubt: int
    """By how many bytes the sizes of blocks from before the history may be too small: nothing tells where they end."""


def _pages(address: int, size: int) -> range:
    assert address % PAGE == 0 and size % PAGE == 0
    return range(address // PAGE, (address + size) // PAGE)


def history(snapshot: dict[str, Any], device: int, afters: set[int]) -> tuple[list[int], dict[int, Held]]:
    """The reserved bytes after 0, 1, 2, ... events, and what there was after some numbers of them."""
    segments, mapped, end = {}, set(), {}
    for it in snapshot["segments"]:
        if it["device"] != device:
            continue
        if it["is_expandable"]:
            mapped |= {*_pages(it["address"], it["total_size"])}
        else:
            segments[it["address"]] = it["total_size"]
        end |= {block["address"]: block for block in it["blocks"] if block["state"] != "inactive"}
    events = snapshot["device_traces"][device]
    live, reserved, kept = {at: block["size"] for at, block in end.items()}, [], {}
    for after in range(len(events), -1, -1):
        reserved.append(sum(segments.values()) + PAGE * len(mapped))
        if after in afters:
            kept[after] = dict(segments), frozenset(mapped)
        event = events[after - 1] if after else {"action": "none"}
        action, address, size = event["action"], event.get("addr"), event.get("size", 0)
        if action == "alloc":
            live.pop(address, None)
        elif action == "free_completed":
            live[address] = rounded(snapshot, size)
            end.pop(address, None)  # what is there at the end is a later block
        elif action == "segment_alloc":
            segments.pop(address)
        elif action == "segment_free":
            segments[address] = size
        elif action == "segment_map":
            mapped -= {*_pages(address, size)}
        elif action == "segment_unmap":
            mapped |= {*_pages(address, size)}
    blocks = _Blocks(snapshot, live, {at: block for at, block in end.items() if at in live}, segments, events)
    sizes = blocks.walk(events, afters)
    return reserved[::-1], {after: Held(*kept[after], *sizes[after]) for after in kept}


def rounded(snapshot: dict[str, Any], size: int) -> int:
    """What a request is rounded up to: even steps between powers of two if the settings say so, else to 512 B."""
    size = max(size, 1)
    steps = snapshot["allocator_settings"].get("roundup_power2_divisions", {})
    division = steps.get(str(1 << min(max(size.bit_length() - 21, 0), 15)), 0)
    if division > 1 and size > BLOCK * division and size & (size - 1):
        low = 1 << (size.bit_length() - 1)
        return low + -(-(size - low) * division // low) * (low // division)
    return max(-(-size // BLOCK) * BLOCK, BLOCK)


class _Blocks:
    """The blocks in use while events are taken one after another."""

    def __init__(self, snapshot, live, known, segments, events) -> None:
        limit = snapshot["allocator_settings"].get("max_split_size", -1)
        self.max_split = limit if limit > 0 else 1 << 62
        self.snapshot, self.segments = snapshot, dict(segments)
        self.sizes = {**live, **{at: block["size"] for at, block in known.items()}}
        self.order, self.ranges = sorted(live), sorted(segments)
        self.frames: dict[int, Any] = {at: known.get(at, {}).get("frames") for at in live}
        self.doubts: dict[int, int] = {}
        open_ends = {at: self.room(at) for at in live if at not in known and self.is_large(at)}
        for at, room in open_ends.items():
            rest = room - self.sizes[at]
            if rest <= MIB or self.sizes[at] >= self.max_split:
                self.sizes[at] = room
            else:
                self.doubts[at] = MIB
        for at, end in self.first_behind(events).items():
            self.sizes[at] = end - at
            del self.doubts[at]

    def is_large(self, address: int) -> bool:
        """Whether it lies in a segment of its own for requests above 1 MiB: the rest of one may stay with a block."""
        at = bisect_right(self.ranges, address) - 1
        inside = at >= 0 and address < self.ranges[at] + self.segments[self.ranges[at]]
        return inside and self.segments[self.ranges[at]] != PAGE

    def room(self, address: int) -> int:
        """The bytes from an address up to the next block, or the end of its segment."""
        start = self.ranges[bisect_right(self.ranges, address) - 1]
        end, at = start + self.segments[start], bisect_right(self.order, address)
        return (min(self.order[at], end) if at < len(self.order) else end) - address

    def first_behind(self, events) -> dict[int, int]:
        """Where blocks of unknown size end: where the first allocation behind each begins, while it is still there."""
        waiting, result = dict(self.doubts), {}
        order = sorted(waiting)
        rooms = {at: self.room(at) for at in waiting}
        for event in events:
            address = event.get("addr", -1)
            if event["action"] == "free_completed":
                waiting.pop(address, None)
            elif event["action"] == "alloc":
                at = order[max(bisect_right(order, address) - 1, 0)] if order else -1
                if at in waiting and at < address < at + rooms[at]:
                    if address - at - self.sizes[at] <= MIB:
                        result[at] = address
                    del waiting[at]
        return result

    def walk(self, events, afters) -> dict[int, tuple[dict[int, int], dict[int, Any], int]]:
        kept = {}
        for after in range(len(events) + 1):
            if after in afters:
                kept[after] = dict(self.sizes), dict(self.frames), sum(self.doubts.values())
            if after < len(events):
                self.take(events[after])
        return kept

    def take(self, event) -> None:
        action, address, size = event["action"], event.get("addr", -1), event.get("size", 0)
        if action == "alloc":
            self.forget(address)
            taken = rounded(self.snapshot, size)
            if self.is_large(address):
                room = self.room(address)
                splits = taken < self.max_split and room - taken > MIB
                taken = taken if splits else room
            self.sizes[address], self.frames[address] = taken, event.get("frames")
            insort(self.order, address)
        elif action == "free_completed":
            self.forget(address)
        elif action == "segment_alloc":
            self.segments[address] = size
            insort(self.ranges, address)
        elif action == "segment_free":
            del self.segments[address]
            self.ranges.remove(address)

    def forget(self, address: int) -> None:
        if address in self.sizes:
            del self.sizes[address], self.frames[address]
            self.order.remove(address)
            self.doubts.pop(address, None)


def free_bytes(snapshot: dict[str, Any], device: int, held: Held) -> dict[str, int]:
    """Free bytes by what becomes of them: pinned by live neighbors, kept by a private pool, or going back."""
    total = sum(held.segments.values()) + PAGE * len(held.mapped) - sum(held.live.values())
    beside = pinned(held, small_pieces(snapshot, device))
    pools = {it["address"]: it.get("segment_pool_id", NO_POOL) for it in snapshot["segments"]}
    pooled = sum(
        size
        for address, size in held.segments.items()
        if pools.get(address, NO_POOL) != NO_POOL and not any(address <= at < address + size for at in held.live)
    )
    return {"pinned": beside, "pooled": pooled, "returning": total - beside - pooled}


LIBRARIES = re.compile(r"/site-packages/|/dist-packages/|/torch/|<frozen|<string>")


def holders(held: Held) -> dict[str, int]:
    """Live bytes by the innermost frame of the program's own Python code; of other blocks nothing."""
    result: dict[str, int] = {}
    for address, size in held.live.items():
        for frame in held.frames[address] or ():
            name = frame["filename"].replace("\\", "/")
            if name.endswith(".py") and not LIBRARIES.search(f"/{name}"):
                site = f"{'/'.join(name.split('/')[-2:])}:{frame['line']} {frame['name']}"[:200]
                result[site] = result.get(site, 0) + size
                break
    return result


def pinned(held: Held, small: set[int]) -> int:
    """Free bytes that do not go back: of segments with a live block, and of pages that a live block only partly fills.

    `small` are the mapped pieces that serve small requests; they are pages, the others are tenths of one.
    """
    used: dict[int, int] = {}
    total = 0
    for address, size in held.live.items():
        for place in range(address // PAGE, (address + size - 1) // PAGE + 1):
            begin, end = max(address, place * PAGE), min(address + size, (place + 1) * PAGE)
            used[place] = used.get(place, 0) + end - begin
    for address, size in held.segments.items():
        inside = sum(bytes_ for at, bytes_ in held.live.items() if address <= at < address + size)
        total += size - inside if inside else 0
    for page in _whole_pages(held.mapped, small):
        inside = sum(used.get(place, 0) for place in page)
        total += PAGE * len(page) - inside if inside else 0
    return total


def _whole_pages(mapped: frozenset[int], small: set[int]) -> Iterator[list[int]]:
    """The pages of expandable segments: each stretch of touching pieces of a kind, cut from its beginning on."""
    stretch: list[int] = []
    for place in [*sorted(mapped), -1]:
        touches = stretch and place == stretch[-1] + 1 and (place in small) == (stretch[-1] in small)
        if stretch and not touches:
            length = 1 if stretch[0] in small else LARGE_PAGE // PAGE
            yield from (stretch[k : k + length] for k in range(0, len(stretch), length))
            stretch = []
        stretch.append(place)


def small_pieces(snapshot: dict[str, Any], device: int) -> set[int]:
    """The pieces of 2 MiB that were mapped one by one, which only small requests do, or lie in small segments."""
    pieces: set[int] = set()
    for it in snapshot["segments"]:
        if it["device"] == device and it["is_expandable"] and it["segment_type"] == "small":
            pieces |= {*_pages(it["address"], it["total_size"])}
    for event in snapshot["device_traces"][device]:
        if event["action"] == "segment_map" and event["size"] == PAGE:
            pieces |= {*_pages(event["addr"], event["size"])}
    return pieces
