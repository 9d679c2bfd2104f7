"""What a lever is made of: its name, its kind, its range, its words. How it is checked and written is elsewhere."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

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
