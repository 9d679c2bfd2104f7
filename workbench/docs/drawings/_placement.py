"""Drawings of placement: what is free, where a request could start, where a policy puts it."""

from __future__ import annotations

from typing import Any

from workbench.docs.drawings._free_maps import HIGH_END_NEARER, MAP, free_row, placed_row, rows_of
from workbench.docs.drawings._svg import Svg, first_run, policy_of
from workbench.figures.size_steps import size_steps

SEGMENTS, REQUESTS, HORIZON = 64, 60, 1050


def placement(policy: Any, length: int = 4, free: str = MAP) -> str:
    """Return the steps of a placement policy for one request: the map, every feasible start, its choice."""
    starts = policy.start_map(free, length)
    start = policy.place(free, length)
    where = "does not fit" if start is None else f"starts at {start}"
    rows = [
        ("free map", free_row(free)),
        (f"starts of {length} free", [("start" if bit == "1" else "blank", bit) for bit in starts]),
        (where, placed_row(free, start, length)),
    ]
    return rows_of(f"{policy.name}: a request of {length} segments in the free map {free} {where}", rows)


def placement_steps(policy: Any) -> str:
    """Return a memory of sixteen segments as a policy hands it out; empty where its grants are no single range."""
    if policy.layout != "contiguous" or not policy.addressed:
        return ""
    memory = policy.allocator(segments=len(MAP))
    live: dict[str, tuple[int | None, int]] = {}
    rows = []
    for name, length in (("A", 3), ("B", 5), ("C", 2), ("-B", 0), ("D", 2), ("E", 4)):
        label = _step(memory, live, name, length)
        rows.append((label, _owned(memory.segments, memory.free_map, live)))
    return rows_of(f"{policy.name}: six requests and releases in a memory of {memory.segments} segments", rows)


def _step(memory: Any, live: dict[str, tuple[int | None, int]], name: str, length: int) -> str:
    """Take or give back once; return what happened."""
    if name.startswith("-"):
        start, length = live.pop(name[1:], (None, 0))
        if start is None:
            return f"{name[1:]} was refused"
        memory.give_back(start, length)
        return f"{name[1:]} ends"
    start = memory.take(length)
    if start is None:
        return f"{name} asks {length}: no"
    live[name] = (start, length)
    return f"{name} takes {length} at {start}"


def _owned(segments: int, free: str, live: dict[str, tuple[int | None, int]]) -> list[tuple[str, str]]:
    cells = free_row(free)
    cells = [(kind, "") for kind, _ in cells]
    for name, (start, length) in live.items():
        for k in range(start or 0, min((start or 0) + length, segments)):
            cells[k] = (f"owner{ord(name) - ord('A')}", name)
    return cells


def nearest_boundary() -> str:
    """Return one decision of nearest boundary: the map, every start, the choice."""
    return placement(policy_of("placement", "nearest_boundary"), free=HIGH_END_NEARER)


def first_fit() -> str:
    """Return the same decision of first fit."""
    return placement(policy_of("placement", "first_fit"), free=HIGH_END_NEARER)


def drain() -> str:
    """Return the places and times of workgroups, in two runs of the engine on the same queue of requests."""
    picture = Svg("The same queue of 60 requests placed by first fit and by nearest boundary", 660, 352)
    for panel, policy in enumerate((policy_of("placement", "first_fit"), policy_of("placement", "nearest_boundary"))):
        _timeline(picture, policy, 50 + panel * 310)
    picture.words(330, 344, "time runs to the right, segments upwards", "small", "middle")
    return picture.text()


def _timeline(picture: Svg, policy: Any, left: float) -> None:
    record = _shared_memory_run(policy)
    across, up = 290 / HORIZON, 280 / SEGMENTS
    picture.words(left, 16, f"{policy.name}: drained after {int(record.release.max())} cycles", "label")
    steps = size_steps([record.length]).of(record.length)
    picture.box(left, 24, 290, 280, "free")
    for k in range(record.grant.size):
        base, length = int(record.base[k]), int(record.length[k])
        x, y = left + record.grant[k] * across, 304 - (base + length) * up
        width = min((record.release[k] - record.grant[k]) * across, left + 290 - x)
        title = f"workgroup {k}: segments {base} to {base + length - 1}"
        picture.box(x, y, max(width, 0), length * up, f"size{steps[k]} thin", title)
    picture.words(left, 322, "0", "small", "middle")
    picture.words(left + 290, 322, f"{HORIZON} cycles", "small", "end")


def _shared_memory_run(policy: Any) -> Any:
    laws = {"count": REQUESTS, "size": {"uniform": [1, 24]}, "duration": {"uniform": [20, 100]}}
    sweep = {
        "engine": "shared_memory",
        "machine": {"segments": SEGMENTS},
        "workload": {"synthetic": "random_workgroups", **laws},
        "policy": {"placement": policy},
        "seeds": 1,
    }
    return first_run(sweep)[1]
