"""Every wire of the circuit for one state and one request: what a reader of the source document checks by hand."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from workbench.policies.placement.circuit.leading_one import highest_raw_by_halving, lowest_by_halving, padded
from workbench.policies.placement.circuit.masks import window_masks
from workbench.policies.placement.circuit.window_tests import WINDOW_AND, start_bits
from workbench.policies.placement.free_map_text import Bits, Encoding, as_words, bits_text
from workbench.structures.bitmaps import bitmap


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
    lut_bits: int = 8,
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
    length = int(length)
    taken_is_one = encoding == "free0"
    starts = start_bits(bitmap(words, segments, taken_is_one), length, WINDOW_AND, False, False, taken_is_one)
    wide = padded(starts)
    low, raw = lowest_by_halving(wide, lut_bits), highest_raw_by_halving(wide, lut_bits)
    masks, free_bits = window_masks(segments, length), bitmap(words, segments, False)
    searched = CircuitTrace(
        window_masks=tuple(bits_text(mask) for mask in masks),
        or_rows=tuple(bits_text(row) for row in ~masks | free_bits),
        start_map=bits_text(starts),
        avail_en=bool(starts.any()),
        llop=_binary(low, wide),
        mlop_raw=_binary(raw, wide),
    )
    covers = length if distance == "window_edge" else 1
    return _chosen(searched, low, raw, wide.size, segments - covers) if searched.avail_en else searched


def _chosen(searched: CircuitTrace, i: int, raw: int, width: int, middle: int) -> CircuitTrace:
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


def _binary(index: int, wide: np.ndarray) -> str:
    return f"{index:0{max(wide.size.bit_length() - 1, 1)}b}"
