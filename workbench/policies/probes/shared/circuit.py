"""The shared probe's vectors, literally: chain, reductions, look-up, and every wire of one period (spec 3, R51-R59).

- Chain (R31, R32, R56): shift, mask, chain, the words D[e] and SA[e] of all resources at once.
- Reduction (R33, R56, R59): one bit a shift and resource: is there a run of that length?
- Decoding (R57; E16): from a resource's SAR sequence to its longest run, by a scan or the fourth look-up table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.compiled import allocating, kernel
from workbench.errors import wrong_value
from workbench.policies.arguments import listed, whole
from workbench.policies.placement.question import MOST_SEGMENTS, Bits, Encoding, as_bits, bits_text
from workbench.policies.probes.shared.masks import FORMS, Direction, Masks, as_number, fields, loaded, mask

Padding = Literal["zero", "occupied"]


@allocating
def shifted(word: np.ndarray, by: int, left: bool, taken_is_one: bool) -> np.ndarray:
    """Return the word moved toward higher positions (`left`) or lower ones, "occupied" coming in at the end."""
    moved = np.empty(word.size, np.bool_)
    for k in range(word.size):
        source = k - by if left else k + by
        moved[k] = word[source] if 0 <= source < word.size else taken_is_one
    return moved


@allocating
def masked(word: np.ndarray, kept: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return the word with "occupied" wherever the mask is 0: AND with the mask, in `free0` OR with its complement
    (R58)."""
    inside = np.empty(word.size, np.bool_)
    for k in range(word.size):
        inside[k] = word[k] | (not kept[k]) if taken_is_one else word[k] & kept[k]
    return inside


@allocating
def chained(before: np.ndarray, word: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return SA[e] of SA[e - 1] and D[e]: AND, in `free0` OR (R32)."""
    both = np.empty(word.size, np.bool_)
    for k in range(word.size):
        both[k] = before[k] | word[k] if taken_is_one else before[k] & word[k]
    return both


@allocating
def prefixes(loaded: np.ndarray, starts: np.ndarray, left: bool, taken_is_one: bool, form: int) -> np.ndarray:
    """Return SA[0] to SA[width - 1], one a row: bool[width, width].

    Parameters
    ----------
    loaded : bool array, shape (width,)
        D0.
    starts : int64 array, shape (resources + 1,)
        As `fields` gives them.
    left, taken_is_one : bool
        The direction, the encoding `free0`.
    form : int
        Which masks there are.
    """
    width = loaded.size
    rows = np.empty((width, width), np.bool_)
    rows[0] = loaded
    for by in range(1, width):
        inside = masked(shifted(loaded, by, left, taken_is_one), mask(starts, by, left, form), taken_is_one)
        rows[by] = chained(rows[by - 1], inside, taken_is_one)
    return rows


@kernel
def scanned(found: np.ndarray) -> int:
    """Scan from the highest entry down to the first 1 at e: e + 1; 0 where there is none (R36)."""
    for entry in range(found.size - 1, -1, -1):
        if found[entry]:
            return entry + 1
    return 0


@kernel
def looked_up(code: np.ndarray) -> int:
    """Look up in LUT4 the row of which the code's last 1 is the entry's own; its rows hold the runs 0 to width.

    A legal code is ones, then zeros. Such a table tells its width + 1 rows apart by where the ones end; what lies below
    is not looked at, which is what a code with wrong padding meets.
    """
    for run in range(code.size, 0, -1):
        if code[run - 1]:
            return run
    return 0


class SharedTrace(NamedTuple):
    """The wires of one period; words as hexadecimal numbers with bit 0 at the right, sequences as text from e = 0."""

    loaded: str
    """D0, the states one after the other (R56)."""
    masks: tuple[str, ...]
    """One a shift, from e = 0 (R58)."""
    prefixes: tuple[str, ...]
    """SA[0] to SA[width - 1]."""
    low_half: str
    """S_L, one bit a shift (R59)."""
    high_half: str
    """S_H."""
    sequences: tuple[str, ...]
    """SAR of each resource, as many entries as it has blocks."""
    codes: tuple[str, ...]
    """The sequences padded to the width of the probe (R57)."""
    scanned: tuple[int, ...]
    """The longest runs as a scan of the sequences gives them."""
    looked_up: tuple[int, ...]
    """The longest runs as the look-up of the padded codes gives them."""


def trace(
    free: Sequence[Bits],
    width: int = 128,
    direction: Direction = "right",
    encoding: Encoding = "free1",
    masks: Masks = "every_shift",
    padding: Padding = "zero",
) -> SharedTrace:
    """Follow the resources of one period through the probe.

    Parameters
    ----------
    free : sequence of str or bool arrays
        A free map a resource, block 0 first, 1 = free in either encoding; the first resource lies at bit 0.
    width : int
        Blocks that the probe looks at.
    direction, encoding, masks, padding
        As the levers of `SharedRun`; `masks="none"` leaves the masks out.

    Raises
    ------
    InputError
        A free map cannot be read, or all of them together are wider than the probe.

    References
    ----------
    spec 3, R56-R59; V19-V24.

    Examples
    --------
    >>> wires = trace(["0110", "0111"], 8)
    >>> wires.loaded, wires.sequences, wires.scanned
    ('0xe6', ('1100', '1110'), (2, 3))
    """
    states, width = [as_bits(one) for one in listed("free", free)], whole("width", width, 1, MOST_SEGMENTS)
    taken_is_one, sizes = encoding == "free0", [len(state) for state in states]
    check_together(sizes, width)
    starts, form = fields(sizes, width), FORMS.index(masks)
    word = loaded(np.concatenate(states), width, taken_is_one)
    rows = prefixes(word, starts, direction == "left", taken_is_one, form)
    found = [sequence(rows, int(first), size, taken_is_one) for first, size in zip(starts, sizes)]
    low_half, high_half = half_sequences(rows, taken_is_one)
    codes = [padded(one, width, padding == "occupied" and taken_is_one) for one in found]
    return SharedTrace(
        as_number(word),
        tuple(as_number(mask(starts, by, direction == "left", form)) for by in range(width)),
        tuple(as_number(row) for row in rows),
        bits_text(low_half),
        bits_text(high_half),
        tuple(bits_text(one) for one in found),
        tuple(bits_text(code) for code in codes),
        tuple(scanned(one) for one in found),
        tuple(looked_up(code) for code in codes),
    )


def check_together(sizes: Sequence[int], width: int) -> None:
    """Refuse resources that do not fit into the probe side by side, and none at all.

    >>> check_together([128, 64], 128)
    Traceback (most recent call last):
    workbench.errors.InputError: shared_run.width must be at least the 192 blocks of one period. Got 128. Nearest: 192.
    """
    if not sizes:
        raise wrong_value("", "a period", "must have at least one free map", [])
    if sum(sizes) > width:
        blocks = sum(sizes)
        raise wrong_value("", "shared_run.width", f"must be at least the {blocks} blocks of one period", width, blocks)


@kernel
def reduced(word: np.ndarray, first: int, end: int, taken_is_one: bool) -> bool:
    """Return the OR of the bits [first, end); in `free0` their NAND (R33)."""
    some, every = False, True
    for k in range(first, end):
        some |= word[k]
        every &= word[k]
    return not every if taken_is_one else some


@allocating
def sequence(rows: np.ndarray, first: int, blocks: int, taken_is_one: bool) -> np.ndarray:
    """Return SAR of the resource that lies in the bits [first, first + blocks): bool[blocks], entry e for a run of e +
    1."""
    result = np.empty(blocks, np.bool_)
    for by in range(blocks):
        result[by] = reduced(rows[by], first, first + blocks, taken_is_one)
    return result


@allocating
def half_sequences(rows: np.ndarray, taken_is_one: bool) -> np.ndarray:
    """Return S_L and S_H: the reductions of the low and of the high half of every SA[e]: bool[2, width] (R59).

    Where one resource uses the whole probe, its SAR is the OR of the two.
    """
    width, middle = rows.shape[0], rows.shape[0] // 2
    result = np.empty((2, width), np.bool_)
    for by in range(width):
        result[0, by] = reduced(rows[by], 0, middle, taken_is_one)
        result[1, by] = reduced(rows[by], middle, width, taken_is_one)
    return result


@allocating
def padded(found: np.ndarray, width: int, with_one: bool) -> np.ndarray:
    """Return the sequence filled up to the width of the probe, with zeros; with ones it is wrong (E16, V24)."""
    code = np.empty(width, np.bool_)
    for entry in range(width):
        code[entry] = found[entry] if entry < found.size else with_one
    return code
