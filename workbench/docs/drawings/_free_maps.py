"""Drawings of free maps as rows of boxes, and of what probes report of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.docs.drawings._svg import Svg, policy_of
from workbench.errors import WorkbenchError

MAP = "0111100111111100"
"""The free map of specification 1's worked examples; 1 is a free segment."""
HIGH_END_NEARER = "0001111001111110"
"""A free map on which the end that is nearer is the high one, so that first fit answers otherwise."""
CELL, LEFT, ROW = 26.0, 150.0, 34.0


def rows_of(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, str]]]], numbered: bool = True) -> str:
    """Return rows of boxes below each other: a label, and for each box its class and its word."""
    most = max(len(cells) for _, cells in rows)
    picture = Svg(title, LEFT + most * CELL + 10, 26 + len(rows) * ROW)
    if numbered:
        for k in range(most):
            picture.words(LEFT + (k + 0.5) * CELL, 14, k, "small", "middle")
    for row, (label, cells) in enumerate(rows):
        top = 20 + row * ROW
        picture.words(LEFT - 10, top + 17, label, "label", "end")
        for k, (kind, word) in enumerate(cells):
            picture.box(LEFT + k * CELL + 1, top, CELL - 2, CELL - 2, kind)
            picture.words(LEFT + (k + 0.5) * CELL, top + 17, word, "inside", "middle")
    return picture.text()


def free_row(free: str) -> list[tuple[str, str]]:
    """Return a free map as boxes."""
    return [("free" if bit == "1" else "taken", bit) for bit in free]


def placed_row(free: str, start: int | None, length: int) -> list[tuple[str, str]]:
    """Return a free map with a request in it."""
    cells = free_row(free)
    if start is None:
        return cells
    return [("chosen", "") if start <= k < start + length else cell for k, cell in enumerate(cells)]


def run_lengths(free: str = MAP) -> str:
    """Return the steps of the exact probe: a map ANDed with its own shift, again and again, until nothing is left."""
    rows, bits, steps = [], [bit == "1" for bit in free], 0
    while any(bits):
        steps += 1
        rows.append((f"runs of {steps} begin", [("start" if bit else "blank", str(int(bit))) for bit in bits]))
        bits = [bit and (k + steps < len(free) and free[k + steps] == "1") for k, bit in enumerate(bits)]
    longest = policy_of("probe", "exact_run", direction="right", encoding="free1").longest(free)
    return rows_of(f"the longest free run of {free} is {longest}", [("free map", free_row(free)), *rows])


def probe(policy: Any) -> str:
    """Return the report of a probe on a map next to the longest run; empty where it is not made for so few blocks."""
    try:
        reported = policy.longest(MAP)
    except WorkbenchError:
        return ""
    longest = policy_of("probe", "exact_run").longest(MAP)
    first = MAP.find("1" * longest)
    truth = [("chosen" if first <= k < first + longest else "blank", "") for k in range(len(MAP))]
    answer = [("start" if first <= k < first + reported else "blank", "") for k in range(len(MAP))]
    rows = [("free map", free_row(MAP)), (f"longest run: {longest}", truth), (f"reported: {reported}", answer)]
    return rows_of(f"{policy.name} reports {reported} of a map whose longest free run is {longest}", rows)


def grouped_run() -> str:
    """Return the view of the grouped probe: whole groups that are free, and the run of those."""
    groups = 4
    size = len(MAP) // groups
    whole = [MAP[k * size : (k + 1) * size] == "1" * size for k in range(groups)]
    cells = [("start" if whole[k // size] else "blank", str(int(whole[k // size]))) for k in range(len(MAP))]
    reported = policy_of("probe", "grouped_run", groups=groups).longest(MAP)
    rows = [("free map", free_row(MAP)), ("whole group free", cells)]
    return rows_of(f"with {groups} groups the probe reports {reported} blocks of {MAP}", rows)
