"""How a lever is described as a JSON schema: one function a kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.levers.shape import Shape


def _numeric(kind: str) -> Callable[[Any], dict[str, Any]]:
    def schema(lv: Shape) -> dict[str, Any]:
        ends = {"minimum": lv.least, "maximum": lv.most}
        return {"type": kind, **{key: end for key, end in ends.items() if end is not None}}

    return schema


def _many(kind: str) -> Callable[[Any], dict[str, Any]]:
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
    "integers": _many("integer"),
    "numbers": _many("number"),
    "spec": lambda lv: lv.spec.schema(),
    "specs": lambda lv: {"type": "array", "items": {"anyOf": [lv.spec.schema(), _as_written(lv)]}},
}
