"""Where resources lie in the shared probe, in time and in its word, and the masks that keep their bits apart (spec 3).

- Packing (R51): which resource is probed in which period of a round?
- Layout (R52, R56): resources lie in the probe's word one after the other, the first at bit 0.
- Masks (R56, R58; V18-V20) keep a shifted word's bits within their resource. A mask is all ones but for the positions
  that a shift vacates: there a bit of the neighbour would come in. In `free1` a mask is AND-ed with the shifted word,
  in `free0` its complement is OR-ed. The outermost field needs none: the shift itself brings "occupied" in at the end
  of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.compiled import allocating
from workbench.errors import wrong_value


def pack(blocks: Sequence[int], width: int) -> np.ndarray:
    """Return the period of each resource by first-fit decreasing: int64[resources], periods numbered from 0.

    The largest resource chooses first, the earlier one of equals; each takes the first period that has room for it.
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
    """Return what is wrong in words that follow the lever's name; empty where nothing is."""
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


@allocating
def loaded(states: np.ndarray, width: int, taken_is_one: bool) -> np.ndarray:
    """Return D0: the states one after the other, filled up with "occupied": bool[width] (R56).

    Parameters
    ----------
    states : bool array, shape (blocks of all resources together,)
        1 = free, whatever the encoding of the word.
    taken_is_one : bool
        The encoding `free0`.
    """
    word = np.empty(width, np.bool_)
    for k in range(width):
        word[k] = (k < states.size and states[k]) != taken_is_one
    return word


Direction = Literal["right", "left"]
Masks = Literal["every_shift", "first_crossing", "none"]
EVERY_SHIFT, FIRST_CROSSING, NONE = 0, 1, 2
FORMS: tuple[Masks, ...] = ("every_shift", "first_crossing", "none")


@allocating
def mask(starts: np.ndarray, by: int, left: bool, form: int) -> np.ndarray:
    """Return the mask of one shift: bool[width].

    Parameters
    ----------
    starts : int64 array, shape (resources + 1,)
        As `fields` gives them.
    by : int
        Positions that the word is shifted by.
    left : bool
        Toward higher positions.
    form : int
        EVERY_SHIFT: zeros at every vacated position, as the document has it. FIRST_CROSSING: only where a bit comes
        over the border for the first time, at the innermost vacated position; the chain remembers the rest, as what was
        occupied once stays so. NONE: no zeros, the ablation.
    """
    word = np.ones(starts[-1], np.bool_)
    for field in range(starts.size - 1):
        first, end = starts[field], starts[field + 1]
        bordered = field > 0 if left else field < starts.size - 2
        if not bordered or form == NONE:
            continue
        for step in range(1, by + 1):
            position = first + step - 1 if left else end - step
            if first <= position < end and (form == EVERY_SHIFT or step == by):
                word[position] = False
    return word


def shift_mask(
    blocks: Sequence[int], width: int, by: int, direction: Direction = "right", masks: Masks = "every_shift"
) -> str:
    """Return the mask of a shift as a hexadecimal number, bit 0 at its right end.

    >>> shift_mask([64, 48], 128, 2)
    '0xffffffffffffffff3fffffffffffffff'
    >>> shift_mask([64, 48], 128, 2, "left")
    '0xfffffffffffffffcffffffffffffffff'
    """
    return as_number(mask(fields(blocks, width), by, direction == "left", FORMS.index(masks)))


def mask_word(width: int, *zeros: int) -> str:
    """Return all ones but for the listed bits, as a hexadecimal number: the document's M(i, ...) (spec 3, R58).

    >>> mask_word(16, 0), mask_word(16, 0, 1)
    ('0xfffe', '0xfffc')
    """
    word = np.ones(width, bool)
    word[list(zeros)] = False
    return as_number(word)


def as_number(word: np.ndarray) -> str:
    """Return a word as a hexadecimal number, bit 0 at its right end, with all its digits.

    >>> as_number(np.array([True, False, False, False, True]))
    '0x11'
    """
    value = sum(1 << k for k in np.flatnonzero(word).tolist())
    return f"0x{value:0{-(-len(word) // 4)}x}"
