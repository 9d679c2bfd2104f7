"""Numbers as results print them: differences, shares, intervals and p-values, with the digits that they earn."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from workbench.metrics.measure import Measure

SMALL = 0.001
"""Below this a p is printed as that it is below."""


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
    unit = measure.unit if math.isfinite(difference) else ""
    return " ".join(filter(None, [_with_interval(abs(difference), *sides), unit, word]))


def _fewer(unit: str) -> str:
    """Return how less of a unit is said.

    >>> [_fewer(unit) for unit in ("cycles", "ns", "", "GB/s")]
    ['fewer', 'less', 'less', 'less']
    """
    return "fewer" if re.fullmatch("[a-z-]{3,}s", unit) else "less"


def per_cent(share: float) -> str:
    """Return the size of a share in two digits, in more where it would else be all, whole from a hundred per cent on.

    >>> per_cent(0.037), per_cent(-0.9987), per_cent(12.34)
    ('3.7 %', '99.9 %', '1,234 %')
    """
    value = abs(100 * share)
    short = (f"{value:.{digits}g}" for digits in (2, 3, 4, 5, 6) if value < 100)
    return f"{next((text for text in short if float(text) < 100), f'{value:,.0f}')} %"


def _with_interval(value: float, low: float, high: float) -> str:
    text = number(value, _digits(low, high)) if math.isfinite(value) else "infinitely"
    return f"{text} {interval_text(low, high)}".rstrip()


def interval_text(low: float, high: float) -> str:
    """Return both limits of an interval in brackets; nothing where there is none."""
    digits = _digits(low, high)
    return "" if math.isnan(low) else f"[{number(low, digits)}, {number(high, digits)}]"


def _digits(low: float, high: float) -> int | None:
    """Return the decimals of an interval and its estimate: no limit that is not 0 is printed as 0.

    >>> _digits(3.0, 72.0), _digits(-20.0, 72.0), _digits(0.0, 72.0)
    (0, -1, -1)
    """
    digits = decimals(high - low)
    ends = [] if digits is None else [end for end in (low, high) if end and round(end, digits) == 0]
    return max([-math.floor(math.log10(abs(end))) for end in ends], default=digits)


def decimals(width: float) -> int | None:
    """Return how many decimals an interval of a width earns, below nought for tens and hundreds.

    The last digit is worth between a sixtieth and a sixth of the width; None where there is no width.

    >>> decimals(221.0), decimals(0.0132), decimals(0.0)
    (-1, 3, None)
    """
    return -math.floor(math.log10(width / 6)) if width > 0 and math.isfinite(width) else None


def number(value: float, digits: int | None) -> str:
    """Return a number with so many decimals; whole numbers exactly, others to four digits, where none are given.

    >>> number(5452.8, -1), number(0.22314, 3), number(3661627392, None), number(0.5, None)
    ('5,450', '0.223', '3,661,627,392', '0.5')
    """
    if not math.isfinite(value):
        return str(value)
    if digits is None:
        return f"{value:,.0f}" if float(value).is_integer() else f"{value:.4g}"
    return f"{round(value, digits) + 0.0:,.{max(digits, 0)}f}"


def probability(p: float) -> str:
    """Return a p-value in two digits, and below a thousandth that it is below.

    >>> probability(9.5e-06), probability(0.0271), probability(1.0)
    ('<0.001', '0.027', '1')
    """
    return f"<{SMALL}" if p < SMALL else f"{p:.2g}"
