"""Differences as results say them, how much less or more than the baseline; and lists of names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from workbench.metrics.measure import Measure
from workbench.number_text import limits, with_limits


def listed(names: Sequence[str]) -> str:
    """Return names as a sentence lists them; nothing of none.

    >>> listed(["waste", "pace", "heat"]), listed(["pace"]), listed([])
    ('waste, pace and heat', 'pace', '')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def amount(difference: float, low: float, high: float, measure: Measure) -> str:
    """Return a difference as how much less or more than the baseline it is, with its limits turned the same way.

    >>> amount(-12.0, -15.0, -9.0, Measure("drain_cycles", "cycles", "lower", ""))
    '12 [9, 15] cycles more'
    """
    sides = (low, high) if difference >= 0 else (-high, -low)
    is_less = (difference > 0) == (measure.better == "lower")
    word = "" if difference == 0 else (_fewer(measure.unit) if is_less else "more")
    if math.isfinite(difference):
        return " ".join(filter(None, [with_limits(abs(difference), *sides), measure.unit, word]))
    return " ".join(filter(None, ["infinitely", limits(*sides), word]))


def _fewer(unit: str) -> str:
    """Return how less of a unit is said.

    >>> [_fewer(unit) for unit in ("cycles", "ns", "", "GB/s")]
    ['fewer', 'less', 'less', 'less']
    """
    return "fewer" if re.fullmatch("[a-z-]{3,}s", unit) else "less"
