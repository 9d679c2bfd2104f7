"""How a value is checked against its lever: one function a kind, each returns the value in its own type or raises."""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import nearest_name, wrong_value
from workbench.levers.shape import Shape


def _integer(lv: Shape, value: Any, path: str, where: str) -> int:
    whole = _as_whole(value)
    if whole is None or not _inside(lv, whole) or (lv.scale == "power_of_two" and whole & (whole - 1)):
        expected = _powers(lv) if lv.scale == "power_of_two" else f"whole number{_range(lv)}"
        raise wrong_value(where, path, f"must be a {expected}", value, nearest(lv, value))
    return whole


def _number(lv: Shape, value: Any, path: str, where: str) -> float:
    real = _as_real(value) if isinstance(value, numbers.Real) else None
    if real is None or not math.isfinite(real) or not _inside(lv, real):
        raise wrong_value(where, path, f"must be a number{_range(lv)}", value, nearest(lv, value))
    return real + 0.0  # makes -0.0 the same as 0.0, which has the same meaning and should have the same digest


def _switch(lv: Shape, value: Any, path: str, where: str) -> bool:
    if isinstance(value, bool) or type(value).__name__ == "bool":  # numpy's bool is another type of the same name
        return bool(value)
    raise wrong_value(where, path, "must be true or false", value)


def _choice(lv: Shape, value: Any, path: str, where: str) -> str:
    if isinstance(value, str) and value in lv.choices:
        return value
    raise wrong_value(where, path, f"must be one of {', '.join(lv.choices)}", value, nearest_name(value, lv.choices))


def _text(lv: Shape, value: Any, path: str, where: str) -> str:
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text.isprintable() or not (text or lv.default == ""):
        form = f" ({lv.description})" if lv.description and isinstance(value, (Mapping, list, tuple)) else ""
        raise wrong_value(where, path, f"must be a text of one line{form}", value)
    return text


def _many(lv: Shape, value: Any, path: str, where: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        raise wrong_value(where, path, "must be a list of numbers", value)
    check = _integer if lv.kind == "integers" else _number
    return tuple(check(lv, item, f"{path}[{k}]", where) for k, item in enumerate(value))


def _spec(lv: Shape, value: Any, path: str, where: str) -> Any:
    assert lv.spec is not None
    return lv.spec.read(value, path, where)


def _specs(lv: Shape, value: Any, path: str, where: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise wrong_value(where, path, "must be a list", value)
    return tuple(_spec(lv, item, f"{path}[{k}]", where) for k, item in enumerate(value))


CHECKS: dict[str, Callable[[Any, Any, str, str], Any]] = {
    "integer": _integer,
    "number": _number,
    "switch": _switch,
    "choice": _choice,
    "text": _text,
    "integers": _many,
    "numbers": _many,
    "spec": _spec,
    "specs": _specs,
}


def nearest(lv: Shape, value: Any) -> float | None:
    """Return the valid value nearest to a wrong one, None where there is none to name; a number in quotes counts as
    one."""
    real = _as_real(value)
    if real is None:
        return None
    low, high = (-math.inf if lv.least is None else lv.least), (math.inf if lv.most is None else lv.most)
    clipped = min(max(real, low), high)
    if not math.isfinite(clipped):
        return None
    if lv.scale == "power_of_two":
        return _near_power(clipped, low, high)
    return clipped if lv.kind in ("number", "numbers") else round(clipped)


def _near_power(value: float, low: float, high: float) -> int:
    """Return the power of two nearest to a value on the log scale, moved into the range; 0 where it allows 0."""
    if low <= 0 and value < 0.5:
        return 0
    exponent = round(math.log2(max(value, 1)))
    while 2**exponent > max(high, 1):
        exponent -= 1
    while 2**exponent < low:
        exponent += 1
    return int(2**exponent)


def _as_whole(value: Any) -> int | None:
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def _as_real(value: Any) -> float | None:
    """Return the value as a number, infinite where no float holds it; None for what is none, and for NaN."""
    if isinstance(value, bool) or not isinstance(value, (numbers.Real, str)):
        return None
    try:
        real = float(value)
    except ValueError:
        return None
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]
    return None if math.isnan(real) else real


def _inside(lv: Shape, value: float) -> bool:
    return (lv.least is None or value >= lv.least) and (lv.most is None or value <= lv.most)


def _powers(lv: Shape) -> str:
    """Return the powers of two of a range; one that begins at 0 allows 0 as well."""
    if lv.least is None or lv.least > 0:
        return f"power of two{_range(lv)}"
    return f"power of two{_range(dataclasses.replace(lv, least=1))}, or 0"


def _range(lv: Shape) -> str:
    least, most = _bound(lv.least), _bound(lv.most)
    if least and most:
        return f" from {least} to {most}"
    return f" of at least {least}" if least else f" of at most {most}" if most else ""


def _bound(value: float | None) -> str:
    """Return an end of the range as a person writes it: 1000000, not 1e+06.

    >>> _bound(1_000_000), _bound(0.5), _bound(2.0), _bound(None)
    ('1000000', '0.5', '2', '')
    """
    if value is None:
        return ""
    return str(int(value)) if value == int(value) else str(value)
