"""A free map as people write it, a string of 0 and 1 or an array of bool, and as the hardware holds it, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.errors import wrong_value
from workbench.structures.bitmaps import packed, unpacked

Bits = str | Sequence[bool] | np.ndarray
Encoding = Literal["free1", "free0"]
FEWEST_SEGMENTS, MOST_SEGMENTS = 2, 4096


def as_bits(given: Bits) -> np.ndarray:
    """Return the state as a boolean array; underscores and blanks in a string are passed over.

    >>> as_bits("01_1").tolist()
    [False, True, True]

    Raises
    ------
    InputError
        It is neither a string of 0 and 1 nor a row of booleans, or it has not 2 to 4,096 segments.
    """
    bits = _from_text(given) if isinstance(given, str) else _from_array(given)
    if not FEWEST_SEGMENTS <= len(bits) <= MOST_SEGMENTS:
        raise wrong_value("", "a free map", f"must have {FEWEST_SEGMENTS} to {MOST_SEGMENTS} segments", len(bits))
    return bits


def as_words(given: Bits, encoding: Encoding, length: int) -> tuple[np.ndarray, int]:
    """Return the free map in words and its number of segments, after checking both and the length that is asked for."""
    bits = as_bits(given)
    check_length(length, len(bits))
    return packed(bits if encoding == "free1" else ~bits), len(bits)


def check_length(length: int, segments: int) -> None:
    """Refuse a length that no state of the memory could serve (spec 1, E1).

    >>> check_length(17, 16)
    Traceback (most recent call last):
    workbench.errors.InputError: length must be a whole number from 1 to 16. Got 17. Nearest: 16.
    """
    whole = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
    if not whole or not 1 <= length <= segments:
        nearest = min(max(length, 1), segments) if whole else None
        raise wrong_value("", "length", f"must be a whole number from 1 to {segments}", length, nearest)


def as_text(words: np.ndarray, segments: int) -> str:
    """Return words as a string, segment 0 on the left."""
    return bits_text(unpacked(words, segments))


def bits_text(bits: np.ndarray) -> str:
    """Return booleans as a string, the first on the left.

    >>> bits_text(np.array([False, True, True]))
    '011'
    """
    return "".join("1" if bit else "0" for bit in bits)


def _from_text(given: str) -> np.ndarray:
    text = given.replace("_", "").replace(" ", "")
    if set(text) - {"0", "1"}:
        raise wrong_value("", "a free map", "must be a string of 0 and 1, segment 0 on the left", given)
    return np.frombuffer(text.encode(), np.uint8) == ord("1")


def _from_array(given: Sequence[bool] | np.ndarray) -> np.ndarray:
    try:
        values = np.asarray(given)
    except (ValueError, TypeError, OverflowError):
        values = np.zeros(0, object)
    if values.ndim != 1 or values.dtype.kind not in "biu" or not np.isin(values, (0, 1)).all():
        raise wrong_value("", "a free map", "must be a string of 0 and 1, or a row of booleans", given)
    return values.astype(bool)
