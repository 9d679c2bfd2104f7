"""Numbers as people read them: cells, sentences, captions and labels print every number by this module.

An estimate has the digits that its interval gives meaning to, and six at most. The half width is 3 to 30 units of the
last digit. Whole numbers, such as counts, bytes and seeds, are exact. CSV and JSON hold every digit, and do without
this module.

number        a number alone                    with_half     a mean with the half width of its interval
to_half       a number to its interval's digits with_limits   an estimate with both limits of its interval
to_decimals   a number to a decimal             limits        the limits alone
per_cent      the size of a share               probability   a p-value
as_written    the value of a lever              bytes_said    bytes in a unit
to_limits     one number of `with_limits`
"""

from __future__ import annotations

import math
import re
from typing import NamedTuple

MOST_DIGITS = 6
"""Of an estimate."""
DIGITS = 4
"""Of a number of which no interval is known."""
NONE = 2.0**-40
"""A half width below this share of its estimate is the rounding of sums, and counts as none."""
SMALL = 0.001
"""A smaller p is printed as that it is below."""
DECIDED = 0.05
"""No p is printed on the other side of this than it is."""
_FINEST, _LARGEST, _EXACT = -7, 12, 1 << 53
"""Decimal exponents of the last and the first digit, beyond which a power of ten is written out; whole numbers beyond
the last one are estimates."""


class Style(NamedTuple):
    """How a medium writes a number."""

    thousands: str = ","
    minus: str = "-"
    plus_minus: str = "±"
    power: str = "{text}e{power:+03d}"
    unknown: str = "-"
    infinite: str = "inf"
    below: str = "<"
    gap: str = " "
    """Between an estimate and the limits of its interval."""
    times: str = "x"
    """Behind a ratio."""


PLAIN = Style()
BARE = Style(thousands="")
"""As sweeps write numbers."""
FIGURE = Style(minus="\N{MINUS SIGN}", infinite="\N{INFINITY}", times="\N{MULTIPLICATION SIGN}")
TEX = Style(
    "\\,", "-", "\\pm", "{text} \\times 10^{{{power}}}", "\\textrm{---}", "\\textrm{---}", "< ", "\\;", "\\times"
)


def number(value: float, digits: int = DIGITS, style: Style = PLAIN) -> str:
    """Return a number alone: whole numbers exactly, others in so many digits, and to whole numbers at least.

    >>> number(3661627392), number(0.123456), number(16113.25), number(1234567.8), number(0.5), number(2.5e-9)
    ('3,661,627,392', '0.1235', '16,113', '1,234,570', '0.5', '2.5e-09')
    >>> number(370.80000000000007), number(-1500, style=TEX), number(math.nan), number(math.inf)
    ('370.8', '-1\\\\,500', '-', 'inf')
    """
    if not math.isfinite(value):
        return _not_finite(value, style)
    if _is_whole(value):
        return _fixed(value, 0, style)
    first = _first(value, digits)
    place = max(min(first - digits + 1, 0), first - MOST_DIGITS + 1)
    return _written(value, place, style, trimmed=True)


def with_half(mean: float, half: float, style: Style = PLAIN) -> str:
    """Return a mean with the half width of its interval, both to the digits that the half width gives meaning to.

    Without an interval, and where it has no width, the mean stands alone. A half width that six digits of the mean do
    not show is rounded up.

    >>> with_half(12345.678, 67.89), with_half(0.012344, 0.00056), with_half(5, math.nan), with_half(100, 1e-14)
    ('12,350 ± 70', '0.0123 ± 0.0006', '5', '100')
    >>> with_half(123456789.3, 12), with_half(-3.21e-9, 1.2e-10, TEX)
    ('123,457,000 ± 1,000', '(-3.21 \\\\pm 0.12) \\\\times 10^{-9}')
    """
    if not math.isfinite(mean):
        return _not_finite(mean, style)
    if not _is_known(half, mean):
        return number(mean, style=style)
    place = _place(half, mean)
    power = _power(max(abs(mean), half), place)
    half = max(half, 10.0**place)
    both = f"{_fixed(mean, place, style, power)} {style.plus_minus} {_fixed(half, place, style, power)}"
    return style.power.format(text=f"({both})", power=power) if power else both


def to_half(value: float, half: float, style: Style = PLAIN) -> str:
    """Return a number that belongs to an interval, to the digits that the interval's half width gives meaning to.

    >>> to_half(12345.678, 67.89), to_half(-0.0004, 0.01), to_half(5452.8, 110.5), to_half(7.25, math.nan)
    ('12,350', '0.000', '5,450', '7.25')
    """
    if not math.isfinite(value):
        return _not_finite(value, style)
    if not _is_known(half, value):
        return number(value, style=style)
    return _written(value, _place(half, value), style, max(abs(value), half))


def with_limits(value: float, low: float, high: float, style: Style = PLAIN) -> str:
    """Return an estimate with both limits of its interval, to the digits that its width gives meaning to.

    Without limits the estimate stands alone. No limit that is not 0 is printed as 0; whole numbers have no decimals.

    >>> with_limits(10.62, 9.04, 12.13), with_limits(12, 9, 15), with_limits(5, 5, 5), with_limits(7.25, math.nan, 9)
    ('10.6 [9.0, 12.1]', '12 [9, 15]', '5 [5, 5]', '7.25')
    """
    if math.isnan(low) or math.isnan(high):
        return number(value, style=style)
    place = _place_of(low, high, value)
    first, *ends = (_beside(one, place, style) for one in (value, low, high))
    return f"{first}{style.gap}[{', '.join(ends)}]"


def to_limits(one: float, low: float, high: float, value: float, style: Style = PLAIN) -> str:
    """Return an estimate, or a limit of its interval, as `with_limits` prints it.

    >>> to_limits(10.62, 9.04, 12.13, 10.62), to_limits(9.04, 9.04, 12.13, 10.62), to_limits(7.25, math.nan, 9, 7.25)
    ('10.6', '9.0', '7.25')
    """
    if math.isnan(low) or math.isnan(high):
        return number(one, style=style)
    return _beside(one, _place_of(low, high, value), style)


def limits(low: float, high: float, style: Style = PLAIN, value: float = math.nan) -> str:
    """Return both limits of an interval in brackets, to the digits of its estimate; nothing where there is none.

    >>> limits(1003, 1072.5), limits(0, math.inf), limits(math.nan, math.nan)
    ('[1,000, 1,070]', '[0, inf]', '')
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    place = _place_of(low, high, value)
    return f"[{', '.join(_beside(end, place, style) for end in (low, high))}]"


def to_decimals(value: float, decimals: int, style: Style = PLAIN, signed: bool = False) -> str:
    """Return a number to a decimal, as labels of one figure have it alike, and in six digits at most.

    >>> to_decimals(3.14159, 1), to_decimals(1234567.8, 1), to_decimals(2, 1, signed=True), to_decimals(-0.01, 1)
    ('3.1', '1,234,570', '+2.0', '0.0')
    """
    if not math.isfinite(value):
        return _not_finite(value, style)
    place = max(-decimals, _first(value, MOST_DIGITS) - MOST_DIGITS + 1)
    sign = "+" if signed and value >= 0 else ""
    return sign + _fixed(value, place, style)


_DECIMAL = re.compile(r"\d+\.\d+(?:e[-+]?\d+)?")


def as_written(value: object) -> str:
    """Return a lever's value as it was written; numbers that were computed, such as a third, in six digits.

    >>> as_written(2.0), as_written((1 / 3, 0.5)), as_written("v_0.12345678.csv"), as_written(123456789)
    ('2.0', '(0.333333, 0.5)', 'v_0.12345678.csv', '123456789')
    """
    return value if isinstance(value, str) else _DECIMAL.sub(_shortened, str(value))


def _shortened(match: re.Match[str]) -> str:
    digits = match[0].partition("e")[0].replace(".", "").lstrip("0")
    return number(float(match[0]), MOST_DIGITS, BARE) if len(digits) > MOST_DIGITS else match[0]


def per_cent(share: float) -> str:
    """Return the size of a share in two digits, in more where it would else be all, whole from a hundred per cent on.

    >>> per_cent(0.037), per_cent(-0.9987), per_cent(12.34)
    ('3.7 %', '99.9 %', '1,234 %')
    """
    value = abs(100 * share)
    short = (f"{value:.{digits}g}" for digits in range(2, MOST_DIGITS + 1) if value < 100)
    return f"{next((text for text in short if float(text) < 100), to_decimals(value, 0))} %"


def probability(p: float, style: Style = PLAIN) -> str:
    """Return a p-value in two digits, below a thousandth that it is below, and never 0.05 of one that is below that.

    >>> probability(9.5e-06), probability(0.0271), probability(1.0), probability(1e-9, TEX), probability(0.0499)
    ('<0.001', '0.027', '1', '< 0.001', '0.0499')
    """
    if not math.isfinite(p):
        return style.unknown
    if p < SMALL:
        return f"{style.below}{SMALL}"
    digits = (f"{p:.{count}g}" for count in range(2, MOST_DIGITS + 1))
    return next((text for text in digits if (float(text) < DECIDED) == (p < DECIDED)), "0.0499999")


_UNITS = (("PiB", 1 << 50), ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10))


def bytes_said(size: float) -> str:
    """Return the bytes in the largest binary unit that leaves at least one, to four digits.

    >>> bytes_said(1536), bytes_said(42949672960), bytes_said(12)
    ('1.5 KiB', '40 GiB', '12 B')
    """
    unit, divisor = next((one for one in _UNITS if size >= one[1]), ("B", 1))
    return f"{size:.0f} B" if divisor == 1 else f"{size / divisor:.4g} {unit}"


def bytes_at_least(size: int) -> str:
    """Return the same rounded down: of parts that must not exceed a whole.

    >>> bytes_at_least(2046820352), bytes_at_least(40 << 30)
    ('1.906 GiB', '40 GiB')
    """
    return _bytes_rounded(size, 1)


def bytes_at_most(size: int) -> str:
    """Return the same rounded up: of what is enough.

    >>> bytes_at_most(2046820352), bytes_at_most(40 << 30), bytes_at_most((1000 << 30) + 1)
    ('1.907 GiB', '40 GiB', '1001 GiB')
    """
    return _bytes_rounded(size, -1)


def _bytes_rounded(size: int, sign: int) -> str:
    unit, divisor = next((one for one in _UNITS if size >= one[1]), ("B", 1))
    digits = max(4 - len(str(size // divisor)), 0)
    scaled = sign * (sign * size * 10**digits // divisor)
    return f"{scaled / 10**digits:.5g} {unit}" if divisor > 1 else f"{size} B"


def _not_finite(value: float, style: Style) -> str:
    if math.isnan(value):
        return style.unknown
    return f"{style.minus if value < 0 and style.infinite != style.unknown else ''}{style.infinite}"


def _is_whole(value: float) -> bool:
    return float(value).is_integer() and abs(value) < _EXACT


def _is_known(half: float, *values: float) -> bool:
    """Return whether half a width says anything: whether it is more than the rounding of its estimate."""
    return math.isfinite(half) and half > NONE * max(map(abs, values))


def _place_of(low: float, high: float, value: float) -> int | None:
    """Return the decimal exponent of the last digit of an interval and its estimate; None where it has no width."""
    known = [each for each in (low, high, value) if math.isfinite(each)]
    half = (high - low) / 2
    if not _is_known(half, *known):
        return None
    place = min([_place(half, *known), *(_first(end, 1) for end in (low, high) if end)])
    return max(place, _place(0.0, *known))


def _beside(one: float, place: int | None, style: Style) -> str:
    """Return an estimate or a limit with as many digits as its interval gives meaning to."""
    return number(one, style=style) if place is None or not math.isfinite(one) else _written(one, place, style)


def _place(half: float, *values: float) -> int:
    """Return the decimal exponent of the last digit: of half a width, but no more than six of the largest number."""
    place = _first(max([half, *map(abs, values)]), MOST_DIGITS) - MOST_DIGITS + 1
    place = max(place, math.floor(math.log10(half / 3))) if half else place
    return max(place, 0) if len(values) > 1 and all(map(_is_whole, values)) else place


def _first(value: float, digits: int) -> int:
    """Return the decimal exponent of the first digit, after rounding to so many."""
    return int(f"{value:.{digits - 1}e}".partition("e")[2])


def _power(largest: float, place: int) -> int:
    """Return the power of ten to write out, 0 where none is needed."""
    first = _first(largest, MOST_DIGITS)
    return first if place < _FINEST or first >= _LARGEST else 0


def _written(value: float, place: int, style: Style, largest: float = 0.0, trimmed: bool = False) -> str:
    """Return a number to a decimal place, with a power of ten where it, or the largest of its group, needs one."""
    power = _power(largest or value, place) if value or largest else 0
    text = _fixed(value, place, style, power)
    if trimmed and "." in text:
        text = text.rstrip("0").rstrip(".")
    return style.power.format(text=text, power=power) if power else text


def _fixed(value: float, place: int, style: Style, power: int = 0) -> str:
    """Return a number to a decimal place, thousands set apart; what rounds to zero has no sign."""
    scaled, place = value / 10.0**power if power else value, place - power
    text = f"{round(scaled, -place):,.{max(-place, 0)}f}".replace(",", style.thousands)
    return text.removeprefix("-") if not text.strip("-0.") else text.replace("-", style.minus)
