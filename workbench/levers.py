"""A lever (parameter) is declared once: range, step, scale, unit, meaning.

The declaration is the single source of validation (YAML and Python alike), of the slider or drop-down in a dashboard,
of the tuner's distribution, of the axis label, of the table in the documentation and of the JSON schema of sweep files.
"""

from __future__ import annotations

import dataclasses
import math
import re
import typing
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, dataclass_transform

from workbench.errors import InputError, unknown_name, wrong_value

Kind = Literal["integer", "number", "switch", "choice", "text", "integers", "numbers", "spec"]
Scale = Literal["linear", "log", "power_of_two"]
REQUIRED: Any = object()


@dataclasses.dataclass(frozen=True)
class Lever:
    """One declared parameter."""

    name: str
    kind: Kind
    default: Any
    least: float | None = None
    most: float | None = None
    step: float | None = None
    scale: Scale = "linear"
    unit: str = ""
    says: str = ""
    choices: tuple[str, ...] = ()
    spec: type[Spec] | None = None

    @property
    def label(self) -> str:
        """The axis label: the name in words, with its unit.

        >>> Lever("look_ahead", "integer", 0, unit="workgroups").label
        'look ahead (workgroups)'
        """
        words = self.name.replace("_", " ")
        return f"{words} ({self.unit})" if self.unit else words

    def check(self, value: Any, path: str = "", where: str = "") -> Any:
        """Return the value in its own type, or raise one sentence that names the path and the nearest valid value."""
        return _CHECKS[self.kind](self, value, path or self.name, where)

    def number(self, value: Any) -> float:
        """The value as compiled code sees it: a choice is its position, a switch is 0 or 1."""
        return float(self.choices.index(value)) if self.kind == "choice" else float(value)

    def schema(self) -> dict[str, Any]:
        """The lever as a JSON schema property."""
        return {k: v for k, v in _SCHEMAS[self.kind](self).items() if v not in (None, "")}


def lever(
    default: Any = REQUIRED,
    *,
    least: float | None = None,
    most: float | None = None,
    step: float | None = None,
    scale: Scale = "linear",
    unit: str = "",
    says: str = "",
) -> Any:
    """Declare a lever of a `Spec`; its kind comes from the annotation (int, str, Literal, tuple, a Spec, ...)."""
    return {"default": default, "least": least, "most": most, "step": step, "scale": scale, "unit": unit, "says": says}


def snake_case(name: str) -> str:
    """The one name of a thing, as YAML and file names write it.

    >>> snake_case("NearestBoundary"), snake_case("TLBShare"), snake_case("PagedLDS")
    ('nearest_boundary', 'tlb_share', 'paged_lds')
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(lever,))
class Spec:
    """A frozen, validated value whose fields are levers.

    >>> class Ring(Spec):
    ...     depth: int = lever(4, least=1, most=64, unit="entries", says="how many entries the ring holds")
    >>> Ring(depth=8)
    Ring(depth=8)
    >>> Ring(depth=0)
    Traceback (most recent call last):
    workbench.errors.InputError: ring.depth must be a whole number from 1 to 64. Got 0. Nearest: 1.
    """

    levers: ClassVar[Mapping[str, Lever]] = {}
    name: ClassVar[str] = "spec"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = snake_case(cls.__name__)
        own = {name: _declared(cls, name, vars(cls)[name]) for name in _lever_names(cls)}
        cls.levers = {**cls.levers, **own}

    def __init__(self, **values: Any) -> None:
        _refuse_unknown(type(self), values)
        for name, declared in self.levers.items():
            value = values.get(name, declared.default)
            if value is REQUIRED:
                raise InputError(f"{self.name} needs {name} ({declared.says}).")
            object.__setattr__(self, name, declared.check(value, f"{self.name}.{name}"))
        self.check()

    def check(self) -> None:
        """Refuse combinations of levers that do not go together; a single lever is checked by its declaration."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self.name} is frozen; make another with {self.name}.but({name}=...)")

    def but(self, **values: Any) -> typing.Self:
        """The same with some levers changed."""
        return type(self)(**{**self.values(), **values})

    def values(self) -> dict[str, Any]:
        """Every lever with its value."""
        return {name: getattr(self, name) for name in self.levers}

    def plain(self) -> dict[str, Any]:
        """Every lever with its value in plain types, defaults included: what a run id is made of."""
        return {name: _plain(value) for name, value in self.values().items()}

    def short(self) -> str:
        """The name and the levers that differ from their defaults, as figures and tables show it."""
        changed = {n: v for n, v in self.values().items() if v != self.levers[n].default}
        inside = ", ".join(f"{n}={_shortly(v)}" for n, v in changed.items())
        return f"{self.name}({inside})" if inside else self.name

    def numbers(self) -> list[float]:
        """The scalar levers in the order of declaration, as compiled code sees them."""
        scalar = ("integer", "number", "switch", "choice")
        return [lv.number(getattr(self, n)) for n, lv in self.levers.items() if lv.kind in scalar]

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of the levers."""
        required = [n for n, lv in cls.levers.items() if lv.default is REQUIRED]
        shape: dict[str, Any] = {"type": "object", "additionalProperties": False}
        shape["properties"] = {n: lv.schema() for n, lv in cls.levers.items()}
        return {**shape, "required": required} if required else shape

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.values() == other.values()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), tuple(self.values().items())))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{n}={v!r}' for n, v in self.values().items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), self.values())


def _rebuilt(cls: type[Spec], values: dict[str, Any]) -> Spec:
    return cls(**values)


def read_spec(cls: type[Spec], given: object, path: str, where: str) -> Any:
    """Build a spec from what a sweep file says, with the path of the offending key in every refusal."""
    if isinstance(given, cls):
        return given
    if not isinstance(given, Mapping):
        raise wrong_value(where, path, f"must be a mapping of {', '.join(cls.levers) or 'nothing'}", given)
    for key in given:
        if key not in cls.levers:
            raise unknown_name(where, f"key {path}." if path else "key", key, cls.levers)
    try:
        return cls(**{name: cls.levers[name].check(value, f"{path}.{name}", where) for name, value in given.items()})
    except InputError as wrong:
        text = str(wrong)
        raise wrong if where in text else InputError(f"{where}: {path}: {text}") from None


def _lever_names(cls: type) -> Iterator[str]:
    annotated = vars(cls).get("__annotations__", {})
    return (name for name in annotated if isinstance(vars(cls).get(name), dict) and "says" in vars(cls)[name])


def _declared(cls: type, name: str, declared: dict[str, Any]) -> Lever:
    delattr(cls, name)
    kind, extra = _kind(typing.get_type_hints(cls).get(name))
    return Lever(name, kind, **declared, **extra)


def _kind(annotation: Any) -> tuple[Kind, dict[str, Any]]:
    if typing.get_origin(annotation) is Literal:
        return "choice", {"choices": typing.get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        return "spec", {"spec": annotation}
    return _PLAIN_KINDS[annotation], {}


_PLAIN_KINDS: dict[Any, Kind] = {
    int: "integer",
    float: "number",
    bool: "switch",
    str: "text",
    tuple[int, ...]: "integers",
    tuple[float, ...]: "numbers",
}


def _refuse_unknown(cls: type[Spec], values: Mapping[str, Any]) -> None:
    for name in values:
        if name not in cls.levers:
            raise unknown_name("", f"lever of {cls.name}", name, cls.levers)


def _check_integer(lv: Lever, value: Any, path: str, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        if not (hasattr(value, "__index__") and not isinstance(value, bool)):
            near = _nearest(lv, value)
            raise wrong_value(where, path, f"must be a whole number{_range(lv)}", value, near)
        value = value.__index__()
    if not _inside(lv, value) or (lv.scale == "power_of_two" and value & (value - 1)):
        raise wrong_value(where, path, f"must be a {_noun(lv)}{_range(lv)}", value, _nearest(lv, value))
    return int(value)


def _check_number(lv: Lever, value: Any, path: str, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise wrong_value(where, path, f"must be a number{_range(lv)}", value)
    if not _inside(lv, value):
        raise wrong_value(where, path, f"must be a number{_range(lv)}", value, _nearest(lv, value))
    return float(value)


def _check_switch(lv: Lever, value: Any, path: str, where: str) -> bool:
    if not isinstance(value, bool):
        raise wrong_value(where, path, "must be true or false", value)
    return value


def _check_choice(lv: Lever, value: Any, path: str, where: str) -> str:
    if value not in lv.choices:
        raise unknown_name(where, f"{path}:", value, lv.choices)
    return str(value)


def _check_text(lv: Lever, value: Any, path: str, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise wrong_value(where, path, "must be a text that is not empty", value)
    return value


def _check_many(lv: Lever, value: Any, path: str, where: str) -> tuple[Any, ...]:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        raise wrong_value(where, path, "must be a list of numbers", value)
    check = _check_integer if lv.kind == "integers" else _check_number
    return tuple(check(lv, item, f"{path}[{k}]", where) for k, item in enumerate(value))


def _check_spec(lv: Lever, value: Any, path: str, where: str) -> Any:
    assert lv.spec is not None
    return read_spec(lv.spec, value, path, where)


_CHECKS: dict[Kind, Any] = {
    "integer": _check_integer,
    "number": _check_number,
    "switch": _check_switch,
    "choice": _check_choice,
    "text": _check_text,
    "integers": _check_many,
    "numbers": _check_many,
    "spec": _check_spec,
}


def _inside(lv: Lever, value: float) -> bool:
    return (lv.least is None or value >= lv.least) and (lv.most is None or value <= lv.most)


def _noun(lv: Lever) -> str:
    return "power of two" if lv.scale == "power_of_two" else "whole number"


def _range(lv: Lever) -> str:
    if lv.least is None and lv.most is None:
        return ""
    if lv.most is None:
        return f" of at least {lv.least:g}"
    return f" from {lv.least:g} to {lv.most:g}" if lv.least is not None else f" of at most {lv.most:g}"


def _nearest(lv: Lever, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    low, high = (-math.inf if lv.least is None else lv.least), (math.inf if lv.most is None else lv.most)
    clipped = min(max(value, low), high)
    if lv.scale == "power_of_two":
        clipped = 2 ** round(math.log2(max(clipped, 1)))
    return clipped if lv.kind in ("number", "numbers") else round(clipped)


def _plain(value: Any) -> Any:
    if isinstance(value, Spec):
        return {value.name: value.plain()}
    return list(value) if isinstance(value, tuple) else value


def _shortly(value: Any) -> str:
    return value.short() if isinstance(value, Spec) else str(value)


def _numeric_schema(kind: str) -> Any:
    def schema(lv: Lever) -> dict[str, Any]:
        return {"type": kind, "minimum": lv.least, "maximum": lv.most, "description": lv.says, "default": _json(lv)}

    return schema


def _many_schema(lv: Lever) -> dict[str, Any]:
    item = {"type": "integer" if lv.kind == "integers" else "number"}
    return {"type": "array", "items": item, "description": lv.says, "default": _json(lv)}


def _json(lv: Lever) -> Any:
    return None if lv.default is REQUIRED else _plain(lv.default)


_SCHEMAS: dict[Kind, Any] = {
    "integer": _numeric_schema("integer"),
    "number": _numeric_schema("number"),
    "switch": lambda lv: {"type": "boolean", "description": lv.says, "default": _json(lv)},
    "choice": lambda lv: {"enum": list(lv.choices), "description": lv.says, "default": _json(lv)},
    "text": lambda lv: {"type": "string", "minLength": 1, "description": lv.says, "default": _json(lv)},
    "integers": _many_schema,
    "numbers": _many_schema,
    "spec": lambda lv: lv.spec.schema(),
}
