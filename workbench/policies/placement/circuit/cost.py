"""What the circuit costs: stages, operations and logic depth (spec 1, H1.8).

Counted for one request of m segments in a memory of N, by these rules: gates have two inputs; an AND or OR over n
bits is a tree of n - 1 gates, ceil(log2 n) deep; an inverter is a gate; a shift by a fixed amount is wiring and costs
nothing; masks made on the fly take one step a row, stored ones a bit a position. Selecting the window's bits for
`window_and` is not counted: a circuit for one m has them as wiring. An adder, a subtractor, a comparator and a
selector follow (R22).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from workbench.errors import wrong_value
from workbench.policies.arguments import whole
from workbench.policies.placement.free_map_text import MOST_SEGMENTS, check_length


class CircuitCost(NamedTuple):
    """Operations and depth of one search."""

    rows: int
    """Windows tested, N - m + 1."""
    mask_bits: int
    """Bits of stored masks."""
    mask_steps: int
    """Shifts needed before the last row can be tested."""
    test_gates: int
    """Gates of the window test, all rows."""
    test_depth: int
    """Gate levels of the window test."""
    search_stages: int
    """Steps of each leading-one search: halvings and one look-up, or positions visited at worst."""
    search_look_up_bits: int
    """Width of the look-up that ends the search, 0 for a scan."""
    search_gates: int
    """Gates and two-way selectors of one search, its look-up left out."""
    search_depth: int
    """Levels of gates and selectors of one search; the look-up counts as one."""
    choice_operations: int
    """Subtractor, adder, comparator, selector."""


def cost(
    segments: int,
    length: int = 1,
    *,
    probe: Literal["shift_and", "mask_or_and", "window_and"] = "mask_or_and",
    mask_source: Literal["precomputed", "on_the_fly"] = "precomputed",
    leading_one: Literal["binary", "linear"] = "binary",
    lut_bits: int = 8,
) -> CircuitCost:
    """Count the circuit for a memory and a request.

    Examples
    --------
    >>> cost(128).search_stages, cost(128, leading_one="linear").search_stages
    (5, 128)
    >>> cost(128, 16, probe="mask_or_and").test_gates, cost(128, 16, probe="window_and").test_gates
    (43279, 1695)
    """
    segments = whole("segments", segments, None, MOST_SEGMENTS)
    if segments < 2:
        raise wrong_value("", "segments", "must be a whole number of at least 2", segments, 2)
    check_length(length, segments)
    rows = segments - length + 1
    masked = probe == "mask_or_and"
    stored = masked and mask_source == "precomputed"
    gates, depth = _test(segments, length, probe)
    search = _halving(segments, lut_bits) if leading_one == "binary" else (segments, 0, segments, segments)
    return CircuitCost(
        rows, rows * segments * stored, (rows - 1) * (masked and not stored), gates, depth, *search, choice_operations=4
    )


def _test(segments: int, length: int, probe: str) -> tuple[int, int]:
    """Count the gates and the depth of the window test."""
    rows = segments - length + 1
    if probe == "mask_or_and":
        return rows * (2 * segments + segments - 1), 2 + _levels(segments)
    if probe == "window_and":
        return rows * (length - 1), _levels(length)
    return segments * (length - 1), length - 1


def _halving(segments: int, lut_bits: int) -> tuple[int, int, int, int]:
    """Count stages, look-up width, gates and depth of a search by halving (R26, R28)."""
    width, stages, gates, depth = 1 << _levels(segments), 0, 0, 0
    while width > lut_bits:
        width //= 2
        stages += 1
        gates += (width - 1) + width
        depth += _levels(width) + 1
    return stages + 1, width, gates, depth + 1


def _levels(inputs: int) -> int:
    """Return the depth of a tree of two-input gates."""
    return (inputs - 1).bit_length()
