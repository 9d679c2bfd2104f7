"""Free maps as people write them: a string of 0 and 1, segment 0 on the left, or an array of bool."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from workbench.errors import wrong_value
from workbench.structures.free_map import packed, unpacked

Bits = str | Sequence[bool] | np.ndarray
Encoding = Literal["free1", "free0"]
FEWEST_SEGMENTS, MOST_SEGMENTS = 2, 4096


def as_bits(given: Bits) -> np.ndarray:
    """The state as a boolean array; underscores and blanks in a string are passed over.

    >>> as_bits("01_1").tolist()
    [False, True, True]
    """
    if not isinstance(given, str):
        return np.asarray(given, bool)
    text = given.replace("_", "").replace(" ", "")
    if set(text) - {"0", "1"}:
        raise wrong_value("", "a free map", "must be a string of 0 and 1, segment 0 on the left", given)
    return np.frombuffer(text.encode(), np.uint8) == ord("1")


def as_words(given: Bits, encoding: Encoding, length: int) -> tuple[np.ndarray, int]:
    """The free map in words and its number of segments, after checking both and the length that is asked for."""
    bits = as_bits(given)
    if not FEWEST_SEGMENTS <= len(bits) <= MOST_SEGMENTS:
        raise wrong_value("", "a free map", f"must have {FEWEST_SEGMENTS} to {MOST_SEGMENTS} segments", len(bits))
    if isinstance(length, bool) or not isinstance(length, (int, np.integer)) or length < 1:
        raise wrong_value("", "length", "must be a whole number of at least 1", length, 1)
    return packed(bits if encoding == "free1" else ~bits), len(bits)


def as_text(words: np.ndarray, segments: int) -> str:
    """Words as a string, segment 0 on the left."""
    return "".join("1" if bit else "0" for bit in unpacked(words, segments))
