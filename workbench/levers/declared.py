"""From the annotations and `lever(...)` of a class body to its levers; a mistake of the author is one sentence."""

from __future__ import annotations

import inspect
import math
import numbers
import sys
import typing
from typing import Any, Literal

from workbench.errors import InputError, shown, unknown_name
from workbench.levers.lever import Declaration, Kind, Lever, Scale

_PLAIN_KINDS: dict[Any, Kind] = {
    int: "integer",
    float: "number",
    bool: "switch",
    str: "text",
    tuple[int, ...]: "integers",
    tuple[float, ...]: "numbers",
}


def declared_levers(cls: type, base: type) -> dict[str, Lever]:
    """Return the levers that a class body declares, in order; the class keeps none of the declarations as
    attributes."""
    found = {name: value for name, value in vars(cls).items() if isinstance(value, Declaration)}
    return {name: _lever(cls, base, name, declared) for name, declared in found.items()}


def _lever(cls: type, base: type, name: str, declared: Declaration) -> Lever:
    if hasattr(base, name) or callable(getattr(super(cls, cls), name, None)):
        raise InputError(f"{cls.__name__}.{name} cannot be a lever: its class has another {name}; choose another name.")
    delattr(cls, name)
    kind, extra = _kind(cls, base, name)
    _check_numbers(f"{cls.__name__}.{name}", declared)
    least, most = declared["least"], declared["most"]
    if least is not None and most is not None and least > most:
        raise InputError(f"{cls.__name__}.{name} has an empty range: least is {least} and most is {most}.")
    return Lever(name, kind, **declared, **extra)


def _check_numbers(name: str, declared: Declaration) -> None:
    """Refuse an end of a range or a step that is no number, and a scale that there is not."""
    for part in ("least", "most", "step"):
        value = declared[part]
        whole = value is None or (isinstance(value, numbers.Real) and not isinstance(value, bool))
        if not whole or (value is not None and not math.isfinite(value)):
            raise InputError(f"{name} is declared with {part}={shown(value)}; {part} must be a number.")
    if declared["scale"] not in typing.get_args(Scale):
        raise unknown_name(name, "scale", declared["scale"], typing.get_args(Scale))


def _kind(cls: type, base: type, name: str) -> tuple[Kind, dict[str, Any]]:
    annotation = _annotation(cls, name)
    if typing.get_origin(annotation) is Literal:
        return "choice", {"choices": typing.get_args(annotation)}
    if isinstance(annotation, type) and issubclass(annotation, base):
        return "spec", {"spec": annotation}
    if annotation in _PLAIN_KINDS:
        return _PLAIN_KINDS[annotation], {}
    inside = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple and isinstance(inside[0], type) and issubclass(inside[0], base):
        return "specs", {"spec": inside[0]}
    known = "int, float, bool, str, Literal[...], tuple[int, ...], tuple[float, ...], a Spec or tuple[Spec, ...]"
    raise InputError(f"{cls.__name__}.{name} must be annotated with {known}. Got {annotation!r}.")


def _annotation(cls: type, name: str) -> Any:
    annotation = inspect.get_annotations(cls).get(name)
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, vars(sys.modules[cls.__module__]), dict(vars(cls)))
    except NameError as unknown:
        raise InputError(f"{cls.__name__}.{name} is annotated with {annotation}, but {unknown}.") from None
