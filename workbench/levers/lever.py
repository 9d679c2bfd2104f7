"""One declared parameter: its name, kind, range and words, how a value is checked, and how its JSON schema reads.

Checks and schemas are one function a kind; a check returns the value in its own type or raises.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from workbench.errors import nearest_name, wrong_value
from workbench.number_text import as_written

Kind = Literal["integer", "number", "switch", "choice", "text", "integers", "numbers", "spec", "specs"]
Scale = Literal["linear", "log", "power_of_two"]


class _Required:
    """The default of a lever that has none; there is one, in every process."""

    def __repr__(self) -> str:
        return "REQUIRED"

    def __reduce__(self) -> str:
        return "REQUIRED"


REQUIRED: Any = _Required()


@dataclasses.dataclass(frozen=True)
class Shape:
    """The parts of one declared parameter."""

    name: str
    kind: Kind
    default: Any = REQUIRED
    least: float | None = None
    most: float | None = None
    step: float | None = None
    scale: Scale = "linear"
    unit: str = ""
    description: str = ""
    choices: tuple[str, ...] = ()
    spec: type[Any] | None = None


class Declaration(dict[str, Any]):
    """What `lever()` was told, until the class that it stands in is complete."""


def lever(
    default: Any = REQUIRED,
    *,
    least: float | None = None,
    most: float | None = None,
    step: float | None = None,
    scale: Scale = "linear",
    unit: str = "",
    description: str = "",
) -> Any:
    """Declare a lever of a `Spec`; its kind comes from the annotation.

    Parameters
    ----------
    default : value, optional
        Without one the lever must be given.
    least, most : number, optional
        The range, ends included; of a list, the range of each entry.
    step : number, optional
        What a slider or a tuner moves by.
    scale : {"linear", "log", "power_of_two"}
        How a slider or a tuner divides the range; with power_of_two nothing else is allowed, but 0 where the range
        begins there.
    unit, description : str
        The unit of the value, and its meaning in one line.

    Examples
    --------
    >>> from workbench.levers import Spec
    >>> class Cache(Spec):
    ...     lines: int = lever(64, least=1, most=4096, scale="power_of_two", unit="lines", description="its size")
    >>> Cache(lines=128).lines, Cache.levers["lines"].description
    (128, 'its size')
    """
    return Declaration(
        default=default, least=least, most=most, step=step, scale=scale, unit=unit, description=description
    )


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


def _numeric(kind: str) -> Callable[[Any], dict[str, Any]]:
    def schema(lv: Shape) -> dict[str, Any]:
        ends = {"minimum": lv.least, "maximum": lv.most}
        return {"type": kind, **{key: end for key, end in ends.items() if end is not None}}

    return schema


def _schema_of_many(kind: str) -> Callable[[Any], dict[str, Any]]:
    return lambda lv: {"type": "array", "items": _numeric(kind)(lv)}


def _as_written(lv: Shape) -> dict[str, Any]:
    """Return a spec as it writes itself in a list: by name, with its levers."""
    assert lv.spec is not None
    shape: dict[str, Any] = {"type": "object", "additionalProperties": False, "required": [lv.spec.name]}
    return {**shape, "properties": {lv.spec.name: lv.spec.schema()}}


SCHEMAS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "integer": _numeric("integer"),
    "number": _numeric("number"),
    "switch": lambda lv: {"type": "boolean"},
    "choice": lambda lv: {"enum": list(lv.choices)},
    "text": lambda lv: {"type": "string"},
    "integers": _schema_of_many("integer"),
    "numbers": _schema_of_many("number"),
    "spec": lambda lv: lv.spec.schema(),
    "specs": lambda lv: {"type": "array", "items": {"anyOf": [lv.spec.schema(), _as_written(lv)]}},
}


@dataclasses.dataclass(frozen=True)
class Lever(Shape):
    """One declared parameter."""

    @property
    def label(self) -> str:
        """Return the axis label: the name in words, with its unit.

        >>> Lever("look_ahead", "integer", 0, unit="workgroups").label
        'look ahead (workgroups)'
        """
        words = self.name.replace("_", " ")
        return f"{words} ({self.unit})" if self.unit else words

    @property
    def required(self) -> bool:
        """Return whether there is no default, so that the lever must be given."""
        return self.default is REQUIRED

    def __identity__(self) -> tuple[Any, ...]:
        """Return the data for a digest of code that uses this lever: all but its texts; values are held by specs."""
        ends = self.least, self.most, self.step, self.scale
        return self.name, self.kind, *ends, self.choices, self.spec.__qualname__ if self.spec else None

    def check(self, value: Any, path: str = "", where: str = "") -> Any:
        """Return the value in its own type, or raise one sentence that names the path and the nearest valid value.

        >>> Lever("depth", "integer", 4, least=1, most=64).check(65, "ring.depth", "a.yaml")
        Traceback (most recent call last):
        workbench.errors.InputError: a.yaml: ring.depth must be a whole number from 1 to 64. Got 65. Nearest: 64.
        """
        return CHECKS[self.kind](self, value, path or self.name, where)

    def number(self, value: Any) -> float:
        """Return the value as compiled code sees it: a choice is its position, a switch is 0 or 1."""
        return float(self.choices.index(value)) if self.kind == "choice" else float(value)

    def plain(self, value: Any) -> Any:
        """Return the value in plain types, as JSON and YAML hold it; a spec is `{name: levers}`."""
        if self.kind == "spec":
            return {value.name: value.plain()}
        if self.kind == "specs":
            return [{item.name: item.plain()} for item in value]
        return list(value) if self.kind in ("integers", "numbers") else value

    def shortly(self, value: Any) -> str:
        """Return the value as figures and tables show it."""
        if self.kind == "specs":
            return "[" + ", ".join(item.short() for item in value) + "]"
        return str(value.short()) if self.kind == "spec" else as_written(value)

    def schema(self) -> dict[str, Any]:
        """Return the lever as a JSON schema property."""
        words = f"{self.description} ({self.unit})" if self.unit and self.description else self.description
        default = None if self.required else self.plain(self.check(self.default))
        shape = {**SCHEMAS[self.kind](self), "description": words, "default": default}
        return {key: value for key, value in shape.items() if value is not None and value != ""}
