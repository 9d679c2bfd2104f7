"""Masks that keep a shifted word's bits within their resource (spec 3, R56, R58; V18-V20).

A mask is all ones but for the positions that a shift vacates: there a bit of the neighbour would come in. In `free1` a
mask is AND-ed with the shifted word, in `free0` its complement is OR-ed. The outermost field needs none: the shift
itself brings "occupied" in at the end of the word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.compiled import allocating
from workbench.policies.probes.shared.layout import fields

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
