"""A figure is data, then ink: what is drawn comes first, as a named tuple that tests and CSV files can hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ANY = "any"
"""The engine of a figure that needs nothing but measures."""

Column = np.ndarray | Sequence[Any]


class Drawn(Protocol):
    """Exactly what a figure draws; every data function returns a named tuple of this kind."""

    def columns(self) -> dict[str, Column]:
        """The same as a tidy table: columns of equal length, a unit in the name where there is one."""


class Recipe(NamedTuple):
    """One figure of the workbench."""

    name: str
    engine: str
    """The engine whose records it shows, or `any`."""
    says: str
    """What one sees in it, in a sentence."""
    data: Callable[..., Any]
    """From a `RunSet` to what is drawn; further arguments are choices with defaults."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""

    def serves(self, engine: str) -> bool:
        """Whether it can be drawn of runs of an engine."""
        return self.engine in (ANY, engine)
