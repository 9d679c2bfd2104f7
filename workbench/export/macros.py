"""The macros of a bundle, `numbers.tex`: one a number, so that none in a paper is typed by hand."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbench.experiments.results import Results
from workbench.export._cells import Cell, half_width
from workbench.export.tex import comment
from workbench.number_text import TEX, number, probability, to_limits, with_half
from workbench.statistics.comparison import size_text
from workbench.statistics.quantities import estimate
from workbench.statistics.result_rows import SIZE

_HEAD = """\
% One macro a number. Names are \\wb, the measure, what is told of it, the policy; digits are spelled out. Each line
% says what the number is and which sets of runs it rests on; manifest.json lists those, and the number in full.
"""


class Macro(NamedTuple):
    """One number with a name."""

    name: str
    """Without the backslash."""
    text: str
    """In TeX's mathematics."""
    value: float
    """As it was computed."""
    description: str
    runs: list[str]
    """The sets of runs that it rests on."""


def macros(runs: Results, cells: list[Cell]) -> list[Macro]:
    """Return every number of a bundle: what was run, and each measure of each point."""
    names = MacroNames()
    result = [_count(names, "runs", len(runs.rows), "runs behind this bundle")]
    result.append(_count(names, "seeds", len(runs.seeds), "paired seeds a point"))
    result.append(_count(names, "points", len(runs.points), "points of the sweep, baselines included"))
    for cell in cells:
        result.extend(_of_cell(names, cell))
    return result


def numbers_tex(macros: list[Macro]) -> str:
    """Return the file's whole text."""
    return _HEAD + "".join(f"{_line(macro)}\n" for macro in macros)


def _line(macro: Macro) -> str:
    behind = f" [{', '.join(macro.runs)}]" if macro.runs else ""
    return f"\\newcommand{{\\{macro.name}}}{{\\ensuremath{{{macro.text}}}}} {comment(macro.description + behind)}"


def _count(names: MacroNames, what: str, count: int, description: str) -> Macro:
    return Macro(names.new(what), number(count, style=TEX), count, description, [])


def _of_cell(names: MacroNames, cell: Cell) -> Iterator[Macro]:
    place, measure = cell.place, cell.measure.name
    where = ", ".join(part for part in (place.setting, place.name) if part)

    def macro(quantity: str, text: str, value: float, description: str, runs: list[str]) -> Macro:
        name = names.new(measure, quantity, place.setting, place.name)
        return Macro(name, text, value, f"{measure}, {where}: {description}", runs)

    mean, half = cell.mean, half_width(cell.mean)
    yield macro("mean", estimate(mean, TEX), mean.mean, "mean", cell.runs)
    yield macro("mean interval", with_half(mean.mean, half, TEX), mean.mean, "mean with half width (95 %)", cell.runs)
    yield macro("count", number(mean.n, style=TEX), mean.n, "seeds", cell.runs)
    if cell.against is not None:
        yield from _compared(cell, macro)


def _compared(cell: Cell, macro: Any) -> Iterator[Macro]:
    verdict = cell.verdict
    assert verdict is not None
    one, pairs = verdict.of, cell.pairs
    size, to, kind = one.size, f"against {one.baseline}", SIZE[one.is_ratio]
    ends = (size.low, size.high, size.mean)
    says = (
        "geometric mean of paired ratios, above 1 = better"
        if one.is_ratio
        else "mean of paired differences, positive = better"
    )
    yield macro(kind, to_limits(size.mean, *ends, TEX), size.mean, f"{kind} {to} ({says})", pairs)
    both = size_text(one, TEX)
    yield macro(f"{kind} interval", both, size.mean, f"{kind} {to} with its 95 % interval", pairs)
    yield macro(f"{kind} low", to_limits(size.low, *ends, TEX), size.low, f"lower end of the {kind} {to}", pairs)
    yield macro(f"{kind} high", to_limits(size.high, *ends, TEX), size.high, f"upper end of the {kind} {to}", pairs)
    yield macro("pairs", number(one.n, style=TEX), one.n, f"seeds on which it is compared {to}", pairs)
    wins, losses = (count if one.n else math.nan for count in (one.wins, one.losses))
    yield macro("better", number(wins, style=TEX), wins, f"seeds on which it is better {to}", pairs)
    yield macro("worse", number(losses, style=TEX), losses, f"seeds on which it is worse {to}", pairs)
    yield macro(
        "p",
        probability(verdict.p, TEX),
        verdict.p,
        f"larger p of size and direction, after Holm's correction over both of {verdict.comparisons} comparisons, {to}",
        pairs,
    )


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
