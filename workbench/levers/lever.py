"""One declared parameter: what it may be, and how it is checked, shown, written down and described."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

from workbench.levers.checks import CHECKS
from workbench.levers.schemas import SCHEMAS
from workbench.levers.shape import REQUIRED, Kind, Scale, Shape

__all__ = ["REQUIRED", "Declaration", "Kind", "Lever", "Scale", "lever"]


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
        """Return what a digest of code that uses this lever holds: all but its texts; values are held by specs."""
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
        return str(value.short()) if self.kind == "spec" else str(value)

    def schema(self) -> dict[str, Any]:
        """Return the lever as a JSON schema property."""
        words = f"{self.description} ({self.unit})" if self.unit and self.description else self.description
        default = None if self.required else self.plain(self.check(self.default))
        shape = {**SCHEMAS[self.kind](self), "description": words, "default": default}
        return {key: value for key, value in shape.items() if value is not None and value != ""}


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
    says: str | None = None,
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
    says : str, optional
        What `description` was called in 0.4: still taken, with a warning.

    Examples
    --------
    >>> from workbench.levers import Spec
    >>> class Cache(Spec):
    ...     lines: int = lever(64, least=1, most=4096, scale="power_of_two", unit="lines", description="its size")
    >>> Cache(lines=128).lines, Cache.levers["lines"].description
    (128, 'its size')
    """
    if says is not None:
        warnings.warn("lever(says=...) is now called lever(description=...).", DeprecationWarning, stacklevel=2)
    meant = description or says or ""
    return Declaration(default=default, least=least, most=most, step=step, scale=scale, unit=unit, description=meant)
