"""Where a slider stops: at most a few hundred values that span a lever's range the way its scale says."""

from __future__ import annotations

import math
from bisect import bisect_left

from workbench.levers import Lever

MOST_EVEN = 256
"""Up to so many equal steps a slider is divided evenly; above, as a logarithm."""

ABOVE_DEFAULT = 1000
"""A slider ends at so many times the default; the number box next to it takes the whole range."""

_EACH_UP_TO = 32
_PER_DOUBLING = 16
_PER_DECADE = 40
_MOST_UNEVEN = 400


def stops(lever: Lever) -> list[float]:
    """Return the values of a slider, rising; none where the lever has no range to slide over.

    >>> stops(Lever("shift", "integer", 0, least=-2, most=2))
    [-2, -1, 0, 1, 2]
    >>> stops(Lever("width", "integer", 8, least=2, most=32, scale="power_of_two"))
    [2, 4, 8, 16, 32]
    >>> found = stops(Lever("count", "integer", 300, least=1, most=10_000_000, scale="log"))
    >>> found[:4], found[39:42], found[-1], len(found)
    ([1, 2, 3, 4], [48, 50, 52], 300000, 243)
    >>> stops(Lever("share", "number", 0.5, least=0, most=1, step=0.25))
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    if lever.least is None or lever.most is None:
        return []
    low, high = lever.least, _end(lever, lever.least, lever.most)
    if low == high:
        return [low]
    if lever.scale == "power_of_two":
        return [0] * (low <= 0) + [2**k for k in range(64) if low <= 2**k <= high]
    if lever.kind == "integer":
        return _whole(lever, int(low), int(high))
    return _real(lever, float(low), float(high))


def nearest_stop(values: list[float], value: float) -> int:
    """Return the position of the stop nearest to a value; the lower of two equally near.

    >>> nearest_stop([1, 2, 4, 8], 3), nearest_stop([1, 2, 4, 8], 100)
    (1, 3)
    """
    at = bisect_left(values, value)
    around = [k for k in (at - 1, at) if 0 <= k < len(values)]
    return min(around, key=lambda k: (abs(values[k] - value), k))


def _end(lever: Lever, low: float, high: float) -> float:
    usual = 0 if lever.required or not isinstance(lever.default, (int, float)) else lever.default
    return max(low, min(high, ABOVE_DEFAULT * max(usual, 1)))


def _whole(lever: Lever, low: int, high: int) -> list[float]:
    step = int(lever.step or 1)
    if (high - low) // step <= MOST_EVEN and lever.scale == "linear":
        return list(range(low, high + 1, step))
    if low < 0:
        return sorted({*range(low, high, max(step, math.ceil((high - low) / MOST_EVEN))), high})
    slider_stops: list[float] = list(range(low, min(high, _EACH_UP_TO) + 1))
    base = _EACH_UP_TO
    while base < high:
        slider_stops += range(max(base, low) + base // _PER_DOUBLING, min(2 * base, high) + 1, base // _PER_DOUBLING)
        base *= 2
    return sorted({*slider_stops, low, high})


def _real(lever: Lever, low: float, high: float) -> list[float]:
    step = lever.step or (high - low) / 100 or high - low  # which a hundredth of the least number is not
    if lever.scale == "linear" and (high - low) / step <= MOST_EVEN:
        return sorted({_tidy(low + k * step) for k in range(math.floor((high - low) / step + 1e-9) + 1)})
    if low <= 0:
        return sorted({_tidy(low + k * (high - low) / MOST_EVEN) for k in range(MOST_EVEN + 1)})
    first, decades = math.log10(low), math.log10(high) - math.log10(low)
    count = min(max(round(decades * _PER_DECADE), 1), _MOST_UNEVEN)
    inner = [float(f"{10 ** (first + decades * k / count):.3g}") for k in range(1, count)]
    return sorted({low, *(value for value in inner if low < value < high), high})


def _tidy(value: float) -> float:
    return round(value, 10) + 0.0
