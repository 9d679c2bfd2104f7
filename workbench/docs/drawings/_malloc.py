"""Drawings of device malloc: how a warp's requests are cut from one block, and how often a lock is taken."""

from __future__ import annotations

from typing import Any

from workbench.docs.drawings._svg import Svg, policy_of
from workbench.policies.policy import policies

REQUESTS = (5, 8, 9, 2, 7, 4, 6, 3)
"""Bytes that eight lanes of a warp ask for."""


def exclusive_prefix_sum() -> str:
    """Return the pieces of a warp by the exclusive prefix sum."""
    return draw_warp_allocation(
        policy_of("serve", "warp_aggregated", warp_size=len(REQUESTS), min_alloc=1, prefix="exclusive", align=1)
    )


def patent_formula() -> str:
    """Return the pieces by the rule as the document's formula has it: they overlap where sizes differ."""
    choices = policies("serve")["warp_aggregated"].levers["prefix"].choices
    written = next(name for name in choices if "written" in name)
    return draw_warp_allocation(
        policy_of("serve", "warp_aggregated", warp_size=len(REQUESTS), min_alloc=1, prefix=written, align=1)
    )


def draw_warp_allocation(policy: Any) -> str:
    """Return the heap requests that a warp of eight lanes makes, and the piece of each lane."""
    served = policy.served(REQUESTS)
    rows = [(one, piece) for one in served for piece in _pieces(one)]
    most = max([one.total for one in served] + [o + s for _, (_, o, s) in rows])
    scale = 520 / most
    picture = Svg(_title(policy, served), 640, 60 + 22 * len(rows))
    picture.words(70, 16, _title(policy, served), "label")
    for row, (one, (lane, offset, size)) in enumerate(rows):
        top = 26 + row * 22
        picture.words(62, top + 14, f"lane {lane}", "label", "end")
        picture.box(70, top, one.total * scale, 18, "ground")
        picture.box(70 + offset * scale, top, max(size * scale - 1, 1), 18, f"owner{lane % 6}")
        picture.words(70 + (offset + size / 2) * scale, top + 13, size, "inside", "middle")
    overlap = _overlap(rows)
    end = 44 + 22 * len(rows)
    picture.words(70, end, f"bytes that two lanes share: {overlap}", "small")
    return picture.text()


def _pieces(one: Any) -> list[tuple[int, int, int]]:
    return list(zip(one.lanes, one.offsets, one.sizes, strict=True))


def _title(policy: Any, served: list[Any]) -> str:
    requests = f"{len(served)} request{'s' * (len(served) > 1)} to the heap"
    rule = f", prefix {policy.prefix}" if "prefix" in policy.levers else ""
    return f"{policy.name}{rule}: {requests} for {sum(REQUESTS)} bytes of {len(REQUESTS)} lanes"


def _overlap(rows: list[tuple[Any, tuple[int, int, int]]]) -> int:
    """Return the number of bytes that belong to more than one lane of a block."""
    owners: dict[tuple[int, int], int] = {}
    for one, (_, offset, size) in rows:
        for byte in range(offset, offset + size):
            owners[id(one), byte] = owners.get((id(one), byte), 0) + 1
    return sum(count > 1 for count in owners.values())


def lock_acquisitions() -> str:
    """Return the number of times that the lock of the heap is taken, by thread and by warp, counted from what policies
    request."""
    threads = [16] * 128
    ways = (
        policy_of("serve", "per_thread"),
        policy_of("serve", "warp_aggregated", warp_size=32),
        policy_of("serve", "warp_aggregated", warp_size=64),
    )
    counts = [len(policy.served(threads)) for policy in ways]
    picture = Svg("Requests to the heap of 128 threads that each ask for 16 bytes", 620, 40 + 34 * len(ways))
    for row, (policy, count) in enumerate(zip(ways, counts, strict=True)):
        top = 16 + row * 34
        width = 230 * count / max(counts)
        picture.words(220, top + 16, policy.short(), "label", "end")
        picture.box(230, top, max(width, 2), 22, f"owner{row}")
        picture.words(238 + width, top + 16, f"{count} requests, {count} locks", "small")
    return picture.text()
