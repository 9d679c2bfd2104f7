"""Differences as results say them, how much less or more than the baseline; and lists of names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from workbench.metrics.measure import Measure
from workbench.number_text import PLAIN, Style, limits, number, to_half, with_limits
from workbench.statistics.comparison import PairedComparison, size_text
from workbench.statistics.interval import Interval


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them; nothing of none.

    >>> listed(["waste", "pace", "heat"]), listed(["pace"]), listed([])
    ('waste, pace and heat', 'pace', '')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def sized(one: PairedComparison, measure: Measure) -> str:
    """Return the size of a comparison as results say it, and over how many pairs where some did not end.

    >>> from workbench.statistics.comparison import compare
    >>> cycles = Measure("wait_cycles", "cycles", "lower", "")
    >>> sized(compare([30, 32, 34], [20, 21, 25]), cycles), sized(compare([4, 4], [2, 2], compared_by="ratio"), cycles)
    ('10.0 [7.5, 12.5] cycles fewer', '2x')
    """
    ends = "" if one.ended == one.n else f" over the {one.ended} of {one.n} that end"
    if not one.ended:
        return "none of them ends"
    return f"{size_text(one) if one.is_ratio else amount(*one.size[:3], measure)}{ends}"


def estimate(interval: Interval, style: Style = PLAIN) -> str:
    """Return a mean to the digits that its interval gives meaning to: the one rounding of a mean, wherever it is shown.

    >>> from workbench.statistics.interval import mean_interval
    >>> estimate(mean_interval([7510, 7530, 7490, 7560]))
    '7,520'
    """
    return to_half(interval.mean, (interval.high - interval.low) / 2, style)


def least_text(measure: Measure, is_ratio: bool) -> str:
    """Return the least effect that counts in words.

    >>> least_text(Measure("makespan", "cycles", "lower", "", compared_by="ratio"), True)
    '1 %'
    >>> least_text(Measure("wait", "cycles", "lower", "", least_effect=20), False)
    '20 cycles'
    """
    assert measure.least is not None
    if is_ratio:
        return f"{number(100 * measure.least)} %"
    return f"{number(measure.least)} {measure.unit}".strip()


def amount(difference: float, low: float, high: float, measure: Measure, with_unit: bool = True) -> str:
    """Return a difference as how much less or more than the baseline it is, with its limits turned the same way.

    >>> cycles = Measure("drain_cycles", "cycles", "lower", "")
    >>> amount(-12.0, -15.0, -9.0, cycles), amount(12.0, 9.0, 15.0, cycles, with_unit=False)
    ('12 [9, 15] cycles more', '12 [9, 15] fewer')
    """
    unit = measure.unit if with_unit else ""
    sides = (low, high) if difference >= 0 else (-high, -low)
    is_less = (difference > 0) == (measure.better == "lower")
    word = "" if difference == 0 else (_fewer(measure.unit) if is_less else "more")
    if math.isfinite(difference):
        return " ".join(filter(None, [with_limits(abs(difference), *sides), unit, word]))
    return " ".join(filter(None, ["infinitely", limits(*sides), word]))


def _fewer(unit: str) -> str:
    """Return the words for less of a unit.

    >>> [_fewer(unit) for unit in ("cycles", "ns", "", "GB/s")]
    ['fewer', 'less', 'less', 'less']
    """
    return "fewer" if re.fullmatch("[a-z-]{3,}s", unit) else "less"
