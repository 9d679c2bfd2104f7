"""What may stand under `vary` in place of a list: a range of the lever that stands there, and where a rank lies on it.

Whole numbers, powers of two, steps and log scales are kept.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.levers import Lever

KEYS = ("from", "to", "scale", "step", "count", "any_of")
MOST_VALUES = 1000
"""Of a range that is spaced by itself."""
RANGE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"const": True, "description": "the whole range of the lever"},
        {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "from": {"type": "number", "description": "the first value; left out, the lever's least"},
                "to": {"type": "number", "description": "the last value; left out, the lever's most"},
                "scale": {"enum": ["linear", "log"], "description": "left out, the lever's own"},
                "step": {"type": "number", "exclusiveMinimum": 0, "description": "left out, the lever's own"},
                "count": {
                    "type": "integer",
                    "minimum": 2,
                    "maximum": MOST_VALUES,
                    "description": "so many evenly spaced values, ends included, instead of a design",
                },
            },
        },
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["any_of"],
            "properties": {"any_of": {"type": "array", "minItems": 1, "description": "values that a design draws"}},
        },
    ]
}


def is_range(given: Any) -> bool:
    """Return whether what stands under `vary` is a range, not a list."""
    return given is True or isinstance(given, Mapping)


def read_range(lever: Lever | None, given: Any, path: str, where: str = "") -> Axis:
    """Return the axis of a range: `true` (all that the lever may be), `{from: , to: }`, or `{any_of: [...]}`.

    What is left out comes from the lever; without a lever only `any_of` says enough.

    Raises
    ------
    InputError
        A key or value is not allowed for the lever, the range is empty, or it has an open end.

    Examples
    --------
    >>> read_range(Lever("width", "integer", 8, least=1, most=64, scale="power_of_two"), {"to": 16}, "width").says()
    'width 1 to 16 (powers of two)'
    >>> read_range(Lever("k", "integer", 8, least=1, most=64), {"to": 65}, "queue.k", "a.yaml")
    Traceback (most recent call last):
    workbench.errors.InputError: a.yaml: queue.k.vary.to must be a whole number from 1 to 64. Got 65. Nearest: 64.
    """
    wish: Mapping[str, Any] = {} if given is True else given
    for key in wish:
        if key not in KEYS:
            raise unknown_name(at(where, f"{path}.vary"), "key", key, KEYS)
    if "any_of" in wish:
        return _any_of(lever, wish, path, where)
    if lever is None:
        raise InputError(at(where, f"{path} is no lever with a range of its own; give a list of values, vary: [...]."))
    if lever.kind in ("switch", "choice") and not wish:
        values = (False, True) if lever.kind == "switch" else lever.choices
        return Axis(path, "category", 0, len(values) - 1, values=values)
    if lever.kind not in ("integer", "number"):
        raise InputError(at(where, f"{path} has no range; give a list of values, vary: [...]."))
    return _numbers(lever, wish, path, where)


def _any_of(lever: Lever | None, wish: Mapping[str, Any], path: str, where: str) -> Axis:
    values = wish["any_of"]
    if len(wish) > 1 or not isinstance(values, (list, tuple)) or not values:
        raise wrong_value(where, f"{path}.vary", "must be {any_of: [...]} with at least one value", dict(wish))
    if lever is not None:
        values = [lever.check(value, f"{path}.vary.any_of[{k}]", where) for k, value in enumerate(values)]
    return Axis(path, "category", 0, len(values) - 1, values=tuple(values))


def _numbers(lever: Lever, wish: Mapping[str, Any], path: str, where: str) -> Axis:
    least, most = (
        _end(lever, wish, key, bound, path, where) for key, bound in (("from", lever.least), ("to", lever.most))
    )
    if least > most:
        raise InputError(at(where, f"{path}.vary has an empty range: from is {least:g} and to is {most:g}."))
    count = _count(wish, path, where)
    if lever.scale == "power_of_two":
        for key in ("scale", "step"):
            if key in wish:
                raise InputError(at(where, f"{path}.vary.{key} must be left out: this lever takes powers of two."))
        low = -1 if least <= 0 else math.ceil(math.log2(least))
        return Axis(path, "power_of_two", low, math.floor(math.log2(max(most, 0.5))), points=count)
    log = _log(lever, wish, least, path, where)
    step = None if log else _step(lever, wish, path, where)
    kind: Kind = "integer" if lever.kind == "integer" else "number"
    last = most if step is None else least + step * math.floor((most - least) / step + 1e-9)
    return Axis(path, kind, least, last if kind == "integer" else float(f"{last:.12g}"), step, log, points=count)


def _end(lever: Lever, wish: Mapping[str, Any], key: str, bound: float | None, path: str, where: str) -> Any:
    if key in wish:
        return lever.check(wish[key], f"{path}.vary.{key}", where)
    if bound is None:
        raise InputError(at(where, f"{path}.vary needs {key}: the range of {lever.name} is open at that end."))
    return bound


def _log(lever: Lever, wish: Mapping[str, Any], least: float, path: str, where: str) -> bool:
    scale = wish.get("scale", lever.scale)
    if scale not in ("linear", "log"):
        raise wrong_value(where, f"{path}.vary.scale", "must be linear or log", scale)
    if "scale" in wish and scale == "log" and least <= 0:
        raise wrong_value(where, f"{path}.vary.from", "must be above 0 on a log scale", least)
    if scale == "log" and wish.get("step") is not None:
        raise InputError(at(where, f"{path}.vary.step must be left out on a log scale, or say scale: linear."))
    return scale == "log" and least > 0


def _step(lever: Lever, wish: Mapping[str, Any], path: str, where: str) -> float | None:
    if "step" not in wish:
        return lever.step if lever.kind == "number" or lever.step is not None else 1
    checked = dataclasses.replace(lever, least=None, most=None).check(wish["step"], f"{path}.vary.step", where)
    if checked <= 0:
        raise wrong_value(where, f"{path}.vary.step", "must be above 0", checked)
    return float(checked) if lever.kind == "number" else int(checked)


def _count(wish: Mapping[str, Any], path: str, where: str) -> int | None:
    if "count" not in wish:
        return None
    return int(Lever("count", "integer", least=2, most=MOST_VALUES).check(wish["count"], f"{path}.vary.count", where))


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
        """Return the number of values, where they can be counted."""
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
