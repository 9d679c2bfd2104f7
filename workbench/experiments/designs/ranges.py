"""What may stand under `vary` in place of a list: a range of the lever that stands there."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.designs.axis import Axis, Kind
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
    least, most = (_end(lever, wish, key, own, path, where) for key, own in (("from", lever.least), ("to", lever.most)))
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


def _end(lever: Lever, wish: Mapping[str, Any], key: str, own: float | None, path: str, where: str) -> Any:
    if key in wish:
        return lever.check(wish[key], f"{path}.vary.{key}", where)
    if own is None:
        raise InputError(at(where, f"{path}.vary needs {key}: the range of {lever.name} is open at that end."))
    return own


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
