"""Numbers in TeX, rounded by their intervals."""

from __future__ import annotations

import math

UNKNOWN = "\\textrm{---}"
"""For what is not known."""

_FINEST, _LARGEST = -5, 9
"""Decimal exponents of the last digit and of the first one, beyond which a power of ten is written out."""


def with_interval(mean: float, half: float) -> str:
    """Return a mean with the half width of its interval, both to the second digit of the half width.

    An interval of no width shows the mean as it is; without one, the mean has four digits and no more is said.

    >>> with_interval(12345.678, 67.89), with_interval(0.012344, 0.00056), with_interval(5, math.nan)
    ('12\\\\,346 \\\\pm 68', '0.01234 \\\\pm 0.00056', '5')
    >>> with_interval(-3.21e-8, 1.2e-9)
    '(-3.21 \\\\pm 0.12) \\\\times 10^{-8}'
    """
    if not math.isfinite(mean):
        return UNKNOWN
    if not math.isfinite(half) or half <= 0:
        return alone(mean)
    power = _power(mean, half)
    places = last_place(half)
    middle, beside = (fixed(value, places, power) for value in (mean, half))
    both = f"{middle} \\pm {beside}"
    return f"({both}) \\times 10^{{{power}}}" if power else both


def with_limits(value: float, low: float, high: float) -> str:
    """Return an estimate with both limits of its interval, to the second digit of half its width; alone without any.

    >>> with_limits(10.62, 9.04, 12.13), with_limits(5, 5, 5), with_limits(7.25, math.nan, math.nan)
    ('10.6 [9.0, 12.1]', '5 [5, 5]', '7.250')
    """
    if not math.isfinite(high - low):
        return alone(value)
    half = min([(high - low) / 2, *(10 * abs(end) for end in (low, high) if end)])
    return f"{to_place(value, half)} [{to_place(low, half)}, {to_place(high, half)}]"


def to_place(value: float, half: float) -> str:
    """Return a number that belongs to an interval, to the second digit of the interval's half width.

    >>> to_place(12345.678, 67.89), to_place(-0.0004, 0.01), to_place(math.nan, 1)
    ('12\\\\,346', '0.000', '\\\\textrm{---}')
    """
    if not math.isfinite(value):
        return UNKNOWN
    if not math.isfinite(half) or half <= 0:
        return alone(value)
    power = _power(value, half)
    text = fixed(value, last_place(half), power)
    return f"{text} \\times 10^{{{power}}}" if power else text


def alone(value: float) -> str:
    """Return a number without an interval: whole as it is, else to four digits.

    >>> alone(1500), alone(0.123456), alone(2.5e-7)
    ('1\\\\,500', '0.1235', '2.500 \\\\times 10^{-7}')
    """
    if not math.isfinite(value):
        return UNKNOWN
    if value == int(value) and abs(value) < 10**_LARGEST:
        return fixed(value, 0)
    return to_place(value, abs(value) / 100)


def p_value(p: float) -> str:
    """Return a p-value: two digits, and below a thousandth no more than that.

    >>> p_value(0.0123), p_value(1e-9), p_value(1.0), p_value(0.5)
    ('0.012', '< 0.001', '1.0', '0.50')
    """
    if not math.isfinite(p):
        return UNKNOWN
    return "< 0.001" if p < 0.001 else fixed(p, max(last_place(p), -3))


def last_place(half: float) -> int:
    """Return the decimal exponent of the second digit of a number, after rounding to it.

    >>> last_place(67.89), last_place(0.00996), last_place(9.96)
    (0, -3, 0)
    """
    return int(f"{half:.1e}".partition("e")[2]) - 1


def fixed(value: float, place: int, power: int = 0) -> str:
    """Return a number to a decimal place, thousands set apart; what rounds to zero has no sign.

    >>> fixed(-1234567.8, 2), fixed(0.5, -2), fixed(-0.001, -1)
    ('-1\\\\,234\\\\,600', '0.50', '0.0')
    """
    scaled, place = value / 10.0**power, place - power
    text = f"{round(scaled, -place):,.{max(-place, 0)}f}"
    text = text.replace(",", "\\,")
    return text.removeprefix("-") if not text.strip("-0.") else text


def _power(mean: float, half: float) -> int:
    """Return the power of ten to write out, 0 where none is needed."""
    first = math.floor(math.log10(max(abs(mean), half)))
    return first if last_place(half) < _FINEST or first >= _LARGEST else 0
