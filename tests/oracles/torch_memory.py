"""What a memory snapshot tells of one card, by sets of small pieces: slow, and blind to how ranges were joined.

Segments and blocks are walked backwards from the end, straight from the snapshot's own dictionaries, in pieces of 512 B
(blocks) and of 2 MiB (mapped memory), the smallest that an allocator has of each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

MIB = 1 << 20
PAGE, BLOCK = 2 * MIB, 512
LARGE_PAGE = 20 * MIB


class Held(NamedTuple):
    """What a card holds after some events."""

    segments: dict[int, int]
    """Of the address of each segment of its own: its bytes."""
    mapped: frozenset[int]
    """The mapped pieces of expandable segments, as multiples of 2 MiB."""
    live: dict[int, int]
    """Of the address of each block in use: its bytes."""


def _pages(address: int, size: int) -> range:
    assert address % PAGE == 0 and size % PAGE == 0
    return range(address // PAGE, (address + size) // PAGE)


def history(snapshot: dict[str, Any], device: int, afters: set[int]) -> tuple[list[int], dict[int, Held]]:
    """The reserved bytes after 0, 1, 2, ... events, and what there was after some numbers of them."""
    segments, mapped, live = {}, set(), {}
    for it in snapshot["segments"]:
        if it["device"] != device:
            continue
        if it["is_expandable"]:
            mapped |= {*_pages(it["address"], it["total_size"])}
        else:
            segments[it["address"]] = it["total_size"]
        live |= {block["address"]: block["size"] for block in it["blocks"] if block["state"] != "inactive"}
    events = snapshot["device_traces"][device]
    reserved, kept = [], {}
    for after in range(len(events), -1, -1):
        reserved.append(sum(segments.values()) + PAGE * len(mapped))
        if after in afters:
            kept[after] = Held(dict(segments), frozenset(mapped), dict(live))
        event = events[after - 1] if after else {"action": "none"}
        action, address, size = event["action"], event.get("addr"), event.get("size", 0)
        if action == "alloc":
            live.pop(address, None)
        elif action == "free_completed":
            live[address] = -(-max(size, 1) // BLOCK) * BLOCK
        elif action == "segment_alloc":
            segments.pop(address)
        elif action == "segment_free":
            segments[address] = size
        elif action == "segment_map":
            mapped -= {*_pages(address, size)}
        elif action == "segment_unmap":
            mapped |= {*_pages(address, size)}
    return reserved[::-1], kept


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
