"""The wires of the source document's circuit for one request (`trace`), and what the circuit costs (spec 1).

For a reader who checks the document's examples by hand; the gates themselves are those of `workbench.circuits`. A
vector is a row of booleans, segment 0 first. The leading-one searches (R24-R28) see the start map padded with zeros to
a power of two at the high end; without a start their bits mean nothing (R27), and here are all ones, as the wires hold.

`cost` counts stages, operations and logic depth (H1.8) for one request of m segments in a memory of N, by these rules.
Gates have two inputs; an AND or OR over n bits is a tree of n - 1 gates, ceil(log2 n) deep; an inverter is a gate. A
shift by a fixed amount is wiring and costs nothing. Masks made on the fly take one step a row, stored ones a bit a
position. Selecting the window's bits for `window_and` is not counted: a circuit for one m has them as wiring. An adder,
a subtractor, a comparator and a selector follow (R22).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import wrong_value
from workbench.policies.arguments import whole
from workbench.policies.placement.free_map import MOST_SEGMENTS, Bits, Encoding, as_words, bits_text, check_length
from workbench.structures.bitmaps import unpacked


class CircuitTrace(NamedTuple):
    """The wires, vectors as text with segment 0 on the left; what R27 calls undefined is None."""

    window_masks: tuple[str, ...]
    """The request's windows, row i for start i (R10-R12)."""
    or_rows: tuple[str, ...]
    """NOT mask OR map, row by row: all ones where the window is free (R13); of the map as `free1`."""
    start_map: str
    """The feasible starts (R16)."""
    avail_en: bool
    """Whether there is one at all (R16)."""
    llop: str
    """The bits of the lowest search, most significant first: i (R24)."""
    mlop_raw: str
    """The bits of the highest search as emitted: the complement of j (R25, E5)."""
    i: int | None = None
    """The lowest start (R17)."""
    j: int | None = None
    """The highest start (R17)."""
    low_distance: int | None = None
    """Segments below the lowest window (R18)."""
    high_distance: int | None = None
    """Segments above the highest window, or above its start bit (R18, R20)."""
    comparator: bool | None = None
    """i + j <= N - m, or N - 1 for the start-bit rule (R19, R22)."""
    raw_comparator: bool | None = None
    """The same from the raw bits: i <= mlop_raw - (m - 1), less the padding of the search (R28, D9)."""
    base: int | None = None
    """The segment granted, the low one at a tie (R19)."""


def trace(
    free: Bits,
    length: int,
    *,
    encoding: Encoding = "free1",
    distance: Literal["window_edge", "start_bit"] = "window_edge",
) -> CircuitTrace:
    """Follow one request through the circuit.

    Raises
    ------
    InputError
        As `Placement.place`.

    Examples
    --------
    >>> wires = trace("0111100111111100", 4)
    >>> wires.start_map, wires.i, wires.j, wires.low_distance, wires.high_distance, wires.base
    ('0100000111100000', 1, 10, 1, 2, 1)
    """
    words, segments = as_words(free, encoding, length)
    rows, place = np.arange(segments - int(length) + 1)[:, None], np.arange(segments)
    masks = (rows <= place) & (place < rows + length)
    or_rows = ~masks | unpacked(words, segments)
    width = 1 << _levels(segments)
    starts, wide = np.zeros(segments, bool), np.zeros(width, bool)
    starts[: rows.size] = wide[: rows.size] = or_rows.all(1)
    low, raw = (int(side.argmax()) if side.any() else width - 1 for side in (wide, wide[::-1]))
    wires = CircuitTrace(
        window_masks=tuple(map(bits_text, masks)),
        or_rows=tuple(map(bits_text, or_rows)),
        start_map=bits_text(starts),
        avail_en=bool(starts.any()),
        llop=_binary_text(low, width),
        mlop_raw=_binary_text(raw, width),
    )
    covers = length if distance == "window_edge" else 1
    return _chosen_wires(wires, low, raw, width, segments - covers) if wires.avail_en else wires


def _chosen_wires(searched: CircuitTrace, i: int, raw: int, width: int, middle: int) -> CircuitTrace:
    """Return the wires behind the searches; `middle` is N - m, or N - 1 for the start-bit rule."""
    j = width - 1 - raw
    return searched._replace(
        i=i,
        j=j,
        low_distance=i,
        high_distance=middle - j,
        comparator=i + j <= middle,
        raw_comparator=i <= raw - (width - 1 - middle),
        base=i if i + j <= middle else j,
    )


def _binary_text(index: int, width: int) -> str:
    return f"{index:0{max(width.bit_length() - 1, 1)}b}"


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
    gates, depth = _test_cost(segments, length, probe)
    search = _search_cost(segments, lut_bits) if leading_one == "binary" else (segments, 0, segments, segments)
    return CircuitCost(
        rows, rows * segments * stored, (rows - 1) * (masked and not stored), gates, depth, *search, choice_operations=4
    )


def _test_cost(segments: int, length: int, probe: str) -> tuple[int, int]:
    """Count the gates and the depth of the window test."""
    rows = segments - length + 1
    if probe == "mask_or_and":
        return rows * (2 * segments + segments - 1), 2 + _levels(segments)
    if probe == "window_and":
        return rows * (length - 1), _levels(length)
    return segments * (length - 1), length - 1


def _search_cost(segments: int, lut_bits: int) -> tuple[int, int, int, int]:
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
