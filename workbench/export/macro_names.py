"""Names of TeX macros: letters alone, unique within a bundle."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

PREFIX = "wb"
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_SIGNS = {"-": "Minus", ".": "Point", "%": "Percent"}


def letters(text: str) -> str:
    """Return a text in letters that TeX takes for a name: words begin large, digits are spelled out.

    >>> letters("nearest_boundary(tie=low)"), letters("segments = 128"), letters("fifo_lookahead(k=-0.5)")
    ('NearestBoundaryTieLow', 'SegmentsOneTwoEight', 'FifoLookaheadKMinusZeroPointFive')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z]+|\d|[-.](?=\d)|%", plain)
    return "".join(
        _DIGITS[int(word)] if word.isdigit() else _SIGNS.get(word) or word[0].upper() + word[1:] for word in words
    )


class MacroNames:
    """Hands out names; one that is taken gets a letter more.

    >>> names = MacroNames()
    >>> names.new("drain_cycles", "Mean", "best_fit"), names.new("drain_cycles", "mean", "best fit")
    ('wbDrainCyclesMeanBestFit', 'wbDrainCyclesMeanBestFitB')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, *parts: str) -> str:
        """Return a name made of parts, in order."""
        wanted = PREFIX + "".join(letters(part) for part in parts)
        name = next(name for name in (wanted + suffix for suffix in _suffixes()) if name not in self._taken)
        self._taken.add(name)
        return name


def _suffixes() -> Sequence[str]:
    one = [chr(code) for code in range(ord("B"), ord("Z") + 1)]
    return ["", *one, *(first + second for first in one for second in one)]
