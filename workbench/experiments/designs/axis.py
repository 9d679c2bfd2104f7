"""One range of a sweep: where on it does a rank lie? Whole numbers, powers of two, steps and log scales are kept."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

Kind = Literal["integer", "number", "power_of_two", "category"]
_DIGITS = 6
"""Significant digits of a drawn number: names of points stay readable, and no design is finer."""


class Axis(NamedTuple):
    """The values that a range stands for."""

    path: str
    """The dotted path of the lever in the sweep."""
    kind: Kind
    least: float
    """Of a power of two, the exponent, -1 for 0; of a category, 0."""
    most: float
    """The last value, which a step can reach; of a category, the place of its last value."""
    step: float | None = None
    log: bool = False
    values: tuple[Any, ...] = ()
    """Of a category, what there is."""
    points: int | None = None
    """How many evenly spaced values the range stands for by itself, whatever the design; None = it is drawn."""

    def at_rank(self, rank: float) -> Any:
        """Return the value at a rank from 0 to 1: every stop of the range equally often, numbers evenly on their scale.

        Whole numbers on a log scale come as often as the logarithm of (n + 1) / n; rank 1 is the last value.

        >>> Axis("k", "integer", 1, 4).at_rank(0.5), Axis("k", "power_of_two", 0, 6).at_rank(0.99)
        (3, 64)
        >>> Axis("load", "number", 0.1, 10, log=True).at_rank(0.5)
        1.0
        """
        if self.kind == "number" and self.step is None:
            return self._between(rank)
        if self.log:
            return self._clipped(math.floor(math.exp(_mixed(math.log(self.least), math.log(self.most + 1), rank))))
        return self._stop(min(int(rank * self.stops), self.stops - 1))

    def at_share(self, share: float) -> Any:
        """Return the value at a share of the way from the first value to the last, both ends included.

        >>> [Axis("k", "integer", 1, 64).at_share(share) for share in (0, 1 / 3, 1)]
        [1, 22, 64]
        """
        if self.kind == "number" and self.step is None:
            return self._between(share)
        if self.log:
            return self._clipped(round(math.exp(_mixed(math.log(self.least), math.log(self.most), share))))
        return self._stop(round(share * (self.stops - 1)))

    def share_of(self, value: Any) -> float:
        """Return the share of the way at which a value lies, on the range's own scale: what `at_share` gave, after
        rounding.

        >>> axis = Axis("k", "integer", 1, 3)
        >>> [axis.share_of(axis.at_share(share)) for share in (0, 1 / 3, 2 / 3, 1)]
        [0.0, 0.5, 0.5, 1.0]
        """
        if self.kind == "category":
            place = next(k for k, one in enumerate(self.values) if one == value and type(one) is type(value))
            return place / max(self.stops - 1, 1)
        if self.kind == "power_of_two":
            scaled = math.log2(value) if value else -1.0
        else:
            scaled = math.log(value) if self.log else float(value)
        least, most = (math.log(self.least), math.log(self.most)) if self.log else (self.least, self.most)
        if self.kind == "power_of_two":
            least, most = self.least, self.most
        return (scaled - least) / (most - least) if most > least else 0.0

    def spaced(self, count: int) -> list[Any]:
        """Return so many evenly spaced values, ends included; those that fall together come once.

        >>> Axis("segments", "power_of_two", 5, 9).spaced(3), Axis("k", "integer", 1, 3).spaced(9)
        ([32, 128, 512], [1, 2, 3])
        """
        shares = [k / (count - 1) for k in range(count)] if count > 1 else [0.0]
        return list(dict.fromkeys(self.at_share(share) for share in shares))

    @property
    def stops(self) -> int:
        """Return how many values there are, where they can be counted."""
        return 1 + math.floor((self.most - self.least) / (self.step or 1) + 1e-9)

    def says(self) -> str:
        """Return the range in words.

        >>> Axis("load", "number", 0.5, 2, log=True).says()
        'load 0.5 to 2 (log)'
        >>> Axis("tie", "category", 0, 1, values=("low", "high")).says()
        'tie low, high'
        """
        if self.kind == "category":
            return f"{self.path} {', '.join(map(str, self.values))}"
        low, high = (_power(end) if self.kind == "power_of_two" else end for end in (self.least, self.most))
        scale = "powers of two" if self.kind == "power_of_two" else "log" if self.log else ""
        steps = f"step {self.step:g}" if self.step not in (None, 1) else ""
        words = ", ".join(part for part in (scale, steps) if part)
        return f"{self.path} {low:g} to {high:g}" + (f" ({words})" if words else "")

    def _between(self, share: float) -> float:
        if self.log:
            value = math.exp(_mixed(math.log(self.least), math.log(self.most), share))
        else:
            value = _mixed(self.least, self.most, share)
        return float(self._clipped(float(f"{value:.{_DIGITS}g}")))

    def _stop(self, place: int) -> Any:
        if self.kind == "category":
            return self.values[place]
        if self.kind == "power_of_two":
            return _power(self.least + place)
        value = self.least + place * (self.step or 1)
        return int(value) if self.kind == "integer" else float(self._clipped(float(f"{value:.12g}")))

    def _clipped(self, value: float) -> float:
        return min(max(value, self.least), self.most)


def _power(exponent: float) -> int:
    """Return the power of two, and 0 for the exponent below that of 1."""
    return 2 ** int(exponent) if exponent >= 0 else 0


def _mixed(low: float, high: float, share: float) -> float:
    return low * (1 - share) + high * share
