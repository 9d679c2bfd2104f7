"""The source document's circuit as readable reference: its wires (`trace`), its cost and its parts (spec 1).

Slow and literal where `workbench.structures.bitmaps` is fast; both give the same on every state (R15). A vector is a
row of booleans, segment 0 first.

- Masks: request windows and releases as bit masks (R9-R12).
- Window tests: which starts are feasible? `taken_is_one` is the encoding `free0`, whose tests are the duals (E14): AND
  and OR change places, and the result is inverted.
- Leading ones: the lowest and the highest 1 of a vector, by halving or by a scan (R24-R28). Halving looks at one half
  at each stage and keeps the half with the wanted 1; at `lut_bits` it stops and a look-up finds the rest. The vector is
  padded with zeros to a power of two at the high end. All results are undefined for a vector without a 1 (R27); here
  they are then whatever the circuit's wires would hold.
- Choice: the comparator and the selector, which of the two outermost windows is granted (R18-R23).

`cost` counts stages, operations and logic depth (H1.8) for one request of m segments in a memory of N, by these rules:
gates have two inputs; an AND or OR over n bits is a tree of n - 1 gates, ceil(log2 n) deep; an inverter is a gate; a
shift by a fixed amount is wiring and costs nothing; masks made on the fly take one step a row, stored ones a bit a
position. Selecting the window's bits for `window_and` is not counted: a circuit for one m has them as wiring. An adder,
a subtractor, a comparator and a selector follow (R22).
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.compiled import allocating, kernel
from workbench.errors import wrong_value
from workbench.policies.arguments import whole
from workbench.policies.placement.question import MOST_SEGMENTS, Bits, Encoding, as_words, bits_text, check_length
from workbench.structures.bitmaps import bitmap


@allocating
def window_masks(segments: int, length: int) -> np.ndarray:
    """Return every window mask, each the one before shifted by one: bool[segments - length + 1, segments] (R10-R12).

    There are no rows above segments - length: a window there would reach past the end (R11, E3).
    """
    masks = np.zeros((segments - length + 1, segments), np.bool_)
    for k in range(length):
        masks[0, k] = True
    for row in range(1, segments - length + 1):
        for k in range(1, segments):
            masks[row, k] = masks[row - 1, k - 1]
    return masks


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
        llop=_binary_text(low, wide),
        mlop_raw=_binary_text(raw, wide),
    )
    covers = length if distance == "window_edge" else 1
    return _chosen_wires(searched, low, raw, wide.size, segments - covers) if searched.avail_en else searched


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


def _binary_text(index: int, wide: np.ndarray) -> str:
    return f"{index:0{max(wide.size.bit_length() - 1, 1)}b}"


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


DISTANCE, TIE = 0, 1
WINDOW_EDGE, START_BIT = 0, 1
LOW, HIGH, ALTERNATE = 0, 1, 2

HIGH_NEXT = 0
"""Memory: 1 when the next tie goes to the high side; only `alternate` changes it."""
AT_TIE = 1
"""Memory: 1 when the latest answer was a tie between two starts; only `alternate` remembers it."""


@kernel
def nearer_end(i: int, j: int, segments: int, length: int, params: Any, memory: Any) -> int:
    """Choose, of the lowest start i and the highest start j, the one whose window lies nearer to its end of the memory.

    With distances i and N - j - m the low side is nearer where i + j < N - m (R19, R22); with the distances of the
    start bits alone, i and N - 1 - j, where i + j < N - 1 (R20).
    """
    middle = segments - length if params[DISTANCE] == WINDOW_EDGE else segments - 1
    memory[AT_TIE] = params[TIE] == ALTERNATE and i + j == middle and i != j
    if i + j != middle:
        return i if i + j < middle else j
    high = memory[HIGH_NEXT] == 1 if params[TIE] == ALTERNATE else params[TIE] == HIGH
    return j if high else i


@allocating
def padded(starts: np.ndarray) -> np.ndarray:
    """Return a vector with zeros added at the high end up to a power of two (R28)."""
    width = 1
    while width < starts.size:
        width *= 2
    wide = np.zeros(width, np.bool_)
    for k in range(starts.size):
        wide[k] = starts[k]
    return wide


@kernel
def holds_one(vector: np.ndarray, base: int, width: int) -> bool:
    """Return the OR of the bits [base, base + width)."""
    some = False
    for k in range(base, base + width):
        some |= vector[k]
    return some


@kernel
def lowest_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """Find the lowest 1 as LLOP: a stage emits 0 and keeps the low half where that holds a 1, else 1 and the high half
    (R24)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        one = 0 if holds_one(wide, base, width) else 1
        emitted = 2 * emitted + one
        base += one * width
    return emitted * width + lowest_by_scan(wide, base, width) - base


@kernel
def highest_raw_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """Return MLOP as the circuit emits it: NOT OR of the high half at each stage, the complement of the index (R25)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        one = 0 if holds_one(wide, base + width, width) else 1
        emitted = 2 * emitted + one
        base += (1 - one) * width
    return emitted * width + base + width - 1 - highest_by_scan(wide, base, width)


@kernel
def lowest_by_scan(vector: np.ndarray, base: int, width: int) -> int:
    """Return the index of the first 1 from `base` up; of the last bit where there is none."""
    for index in range(base, base + width):
        if vector[index]:
            return index
    return base + width - 1


@kernel
def highest_by_scan(vector: np.ndarray, base: int, width: int) -> int:
    """Return the index of the first 1 from the top of the bits [base, base + width) down; `base` where there is
    none."""
    for index in range(base + width - 1, base - 1, -1):
        if vector[index]:
            return index
    return base


SHIFT_AND, WINDOW_AND = 0, 2


@kernel
def mask_test(bits: np.ndarray, mask: np.ndarray, taken_is_one: bool) -> bool:
    """Test a row by its mask (A): AND over k of NOT mask[k] OR map[k]; in `free0` the NOR of mask[k] AND map[k] (R13,
    E14)."""
    every, some = True, False
    for k in range(bits.size):
        every &= (not mask[k]) | bits[k]
        some |= mask[k] & bits[k]
    return not some if taken_is_one else every


@kernel
def window_test(bits: np.ndarray, start: int, length: int, taken_is_one: bool) -> bool:
    """Test a row by its window (B): AND of the window's own bits; in `free0` their NOR (R14)."""
    every, some = True, False
    for k in range(start, start + length):
        every &= bits[k]
        some |= bits[k]
    return not some if taken_is_one else every


@allocating
def shift_test(bits: np.ndarray, length: int, taken_is_one: bool) -> np.ndarray:
    """Test every row at once: the map AND its copies shifted by 1 to length - 1, taken segments coming in (D12).

    This is the vector SA[length - 1] of spec 3 (R31, R32) with the shift toward lower positions; in `free0` the chain
    is made of ORs.
    """
    chain = bits.copy()
    for distance in range(1, length):
        moved = shifted(bits, -distance, taken_is_one)
        for k in range(bits.size):
            chain[k] = chain[k] | moved[k] if taken_is_one else chain[k] & moved[k]
    for k in range(bits.size):
        chain[k] = chain[k] != taken_is_one
    return chain


@allocating
def start_bits(
    bits: np.ndarray, length: int, probe: int, on_the_fly: bool, descending: bool, taken_is_one: bool
) -> np.ndarray:
    """Return the start map, bool[segments], row by row in the order asked for; rows above segments - length stay 0
    (E3)."""
    if probe == SHIFT_AND:
        return shift_test(bits, length, taken_is_one)
    if probe == WINDOW_AND:
        return _window_tests(bits, length, descending, taken_is_one)
    if on_the_fly:
        return _shifted_mask_tests(bits, length, descending, taken_is_one)
    return _stored_mask_tests(bits, length, descending, taken_is_one)


@kernel
def _row(step: int, rows: int, descending: bool) -> int:
    return rows - 1 - step if descending else step


@allocating
def _window_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    for step in range(rows):
        row = _row(step, rows, descending)
        starts[row] = window_test(bits, row, length, taken_is_one)
    return starts


@allocating
def _stored_mask_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    masks = window_masks(bits.size, length)
    for step in range(rows):
        row = _row(step, rows, descending)
        starts[row] = mask_test(bits, masks[row], taken_is_one)
    return starts


@allocating
def _shifted_mask_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    """Test with one mask that moves by a position from row to row."""
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    mask = shifted(size_mask(bits.size, length), _row(0, rows, descending), False)
    for step in range(rows):
        starts[_row(step, rows, descending)] = mask_test(bits, mask, taken_is_one)
        mask = shifted(mask, -1 if descending else 1, False)
    return starts


@allocating
def size_mask(segments: int, length: int) -> np.ndarray:
    """Return as many low ones as the request is long (R9): window mask 0."""
    mask = np.zeros(segments, np.bool_)
    for k in range(length):
        mask[k] = True
    return mask


@allocating
def shifted(vector: np.ndarray, by: int, entering: bool) -> np.ndarray:
    """Return a vector moved toward higher positions, lower ones for a negative amount, with a value entering at the
    end."""
    moved = np.empty(vector.size, np.bool_)
    for k in range(vector.size):
        moved[k] = vector[k - by] if 0 <= k - by < vector.size else entering
    return moved


@allocating
def release_mask(segments: int, start: int, length: int) -> np.ndarray:
    """Return what is OR-ed into the bitmap at a release: the size mask shifted by the base, not by the length (R9,
    E6)."""
    return shifted(size_mask(segments, length), start, False)
