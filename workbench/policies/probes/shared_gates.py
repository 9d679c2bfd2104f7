"""The shared probe as readable reference: packing, masks, every wire of a period (spec 3, R51-R58).

Slow and literal where `SharedRun` is fast; both give the same on every state. A word of the probe is a row of booleans,
bit 0 first; bit 0 is the first block of the first resource. Written as a number a word has bit 0 at its right end, so
the direction `right` moves bits toward bit 0.

- Packing (R51): which resource is probed in which period of a round?
- Layout (R52, R56): resources lie in the probe's word one after the other, the first at bit 0.
- Masks (R56, R58; V18-V20) keep a shifted word's bits within their resource. A mask is all ones but for the positions
  that a shift vacates: there a bit of the neighbor would come in. In `free1` a mask is AND-ed with the shifted word, in
  `free0` its complement is OR-ed. The outermost field needs none: the shift itself brings "occupied" in at the end of
  the word.
- Decoding (R57; E16): the longest run is where the last 1 of a resource's sequence stands, counted from 1: by a scan,
  or by a table whose rows hold the runs 0 to width. What lies below that 1 is not looked at, which is what a code with
  wrong padding meets.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import wrong_value
from workbench.gates import ZERO
from workbench.policies.arguments import listed, whole
from workbench.policies.placement.free_map import MOST_SEGMENTS, Bits, Encoding, as_bits, bits_text

Direction = Literal["right", "left"]
Padding = Literal["zero", "occupied"]
Masks = Literal["every_shift", "first_crossing", "none"]


def pack(blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the period of each resource by first-fit decreasing: int64[resources], periods numbered from 0.

    The largest resource chooses first, the earlier one of equals; each takes the first period that has space for it.
    Every period so holds at least one resource, and at most `width` blocks.

    Parameters
    ----------
    blocks : sequence of int
        Blocks of each resource, none above `width`.
    width : int
        Blocks that the probe looks at in a period.

    References
    ----------
    spec 3, R51; V17.

    Examples
    --------
    >>> pack([128, 64, 48], 128).tolist()
    [0, 1, 1]
    """
    period, room = np.zeros(len(blocks), np.int64), list[int]()
    for resource in sorted(range(len(blocks)), key=lambda k: -blocks[k]):
        fitting = (p for p, left in enumerate(room) if left >= blocks[resource])
        chosen = next(fitting, len(room))
        if chosen == len(room):
            room.append(width)
        room[chosen] -= blocks[resource]
        period[resource] = chosen
    return period


def given(periods: Sequence[int], blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the period of each resource as somebody chose it: int64[resources].

    Raises
    ------
    InputError
        Another number of resources is named, a period has none, or one has more blocks than the probe is wide.

    Examples
    --------
    >>> given([1, 0, 0], [128, 64, 48], 128).tolist()
    [1, 0, 0]
    """
    wrong = _what_is_wrong(periods, blocks, width)
    if wrong:
        raise wrong_value("", "shared_run.periods", wrong, list(periods), pack(blocks, width).tolist())
    return np.array(periods, np.int64)


def loads(period: Sequence[int], blocks: Sequence[int]) -> list[int]:
    """Return the blocks of each period together.

    >>> loads([0, 1, 1], [128, 64, 48])
    [128, 112]
    """
    total = [0] * (max(period, default=-1) + 1)
    for when, size in zip(period, blocks, strict=True):
        total[when] += size
    return total


def _what_is_wrong(periods: Sequence[int], blocks: Sequence[int], width: int) -> str:
    """Return the fault in words that follow the lever's name; empty where there is none."""
    if len(periods) != len(blocks):
        return f"must name a period for each of the {len(blocks)} resources"
    for when, together in enumerate(loads(periods, blocks)):
        if when not in periods:
            return f"must give every period a resource; {when} has none"
        if together > width:
            return f"must put at most {width} blocks into a period; {when} has {together}"
    return ""


def fields(blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the first bit of each resource's field, and the width of the probe: int64[resources + 1].

    The last field reaches to the end of the word; its bits beyond the resource hold "occupied" (V22).

    >>> fields([64, 48], 128).tolist()
    [0, 64, 128]
    """
    ends = np.cumsum([0, *blocks])
    ends[-1] = width
    return ends


def shifted(word: np.ndarray, by: int, left: bool) -> np.ndarray:
    """Return a word of free blocks, or of wires, moved toward higher positions (`left`) or lower ones; "occupied" comes
    in at the end."""
    coming = np.full(by, ZERO, word.dtype)
    return np.concatenate([coming, word[: word.size - by]] if left else [word[by:], coming])


def mask(starts: np.ndarray, by: int, left: bool, masks: Masks) -> np.ndarray:
    """Return the mask of one shift: bool[width].

    Parameters
    ----------
    starts : int64 array, shape (resources + 1,)
        As `fields` gives them.
    by : int
        Positions that the word is shifted by.
    left : bool
        Toward higher positions.
    masks : {"every_shift", "first_crossing", "none"}
        Zeros at every vacated position, as the document has it; only where a bit comes over the border for the first
        time, at the innermost vacated position, as the chain remembers that what was occupied once stays so; or no
        zeros, the ablation.
    """
    word = np.ones(starts[-1], bool)
    for first, end in pairwise(starts.tolist()):
        bordered = first > 0 if left else end < starts[-1]
        if bordered and masks != "none":
            vacated = np.arange(first, end)[:: 1 if left else -1][:by]
            word[vacated if masks == "every_shift" else vacated[by - 1 : by]] = False
    return word


def as_number(word: np.ndarray) -> str:
    """Return a word as a hexadecimal number, bit 0 at its right end, with all its digits.

    >>> as_number(np.array([True, False, False, False, True]))
    '0x11'
    """
    value = sum(1 << k for k in np.flatnonzero(word).tolist())
    return f"0x{value:0{-(-len(word) // 4)}x}"


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
    inverted, left, sizes = encoding == "free0", direction == "left", [len(state) for state in states]
    check_together(sizes, width)
    starts = fields(sizes, width)
    word = np.concatenate([*states, np.zeros(width - sum(sizes), bool)])
    passing = [mask(starts, by, left, masks) for by in range(width)]
    rows = [word]
    for by in range(1, width):
        rows.append(rows[-1] & shifted(word, by, left) & passing[by])
    chain = np.array(rows)
    sequences = [np.any(chain[:size, first : first + size], axis=1) for first, size in zip(starts, sizes)]
    filling = padding == "occupied" and inverted
    codes = [np.concatenate([one, np.full(width - one.size, filling)]) for one in sequences]
    return SharedTrace(
        as_number(word != inverted),
        tuple(map(as_number, passing)),
        tuple(as_number(row != inverted) for row in rows),
        bits_text(np.any(chain[:, : width // 2], axis=1)),
        bits_text(np.any(chain[:, width // 2 :], axis=1)),
        tuple(map(bits_text, sequences)),
        tuple(map(bits_text, codes)),
        tuple(map(last_one, sequences)),
        tuple(map(last_one, codes)),
    )


def last_one(bits: np.ndarray) -> int:
    """Return the place of the last 1, counted from 1; 0 where there is none (R36).

    >>> last_one(np.array([True, True, False])), last_one(np.zeros(3, bool))
    (2, 0)
    """
    return int(np.flatnonzero(bits).max(initial=-1)) + 1


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
