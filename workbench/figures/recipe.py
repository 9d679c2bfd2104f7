"""A figure is data, then ink: what is drawn comes first, as a named tuple that tests and CSV files can hold."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from workbench.errors import unknown_name
from workbench.figures.known import FIGURES
from workbench.parts.registry import old_word

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.experiments.run_set import RunSet

ANY = "any"
"""The engine of a figure that needs nothing but measures."""

Column = np.ndarray | Sequence[Any]


class Drawn(Protocol):
    """Exactly what a figure draws; every data function returns a named tuple of this kind."""

    def columns(self) -> dict[str, Column]:
        """Return the same as a tidy table: columns of equal length, a unit in the name where there is one."""


Data = TypeVar("Data")


def on_paper(draw: Callable[[Data], Figure]) -> Callable[[Data], Figure]:
    """Let a draw function draw in the style of the workbench; Matplotlib is imported when it is first called.

    What it returns raises a WorkbenchError that says what to install where there is no Matplotlib.
    """

    @functools.wraps(draw)
    def drawn(data: Data) -> Figure:
        from workbench.figures import ink

        with ink.paper():
            return draw(data)

    return drawn


@dataclass(frozen=True)
class Recipe:
    """One figure of runs; made anew, it takes the place of an earlier one of the user's.

    Raises
    ------
    InputError
        The workbench has another figure of that name.
    """

    name: str
    engine: str
    """The engine whose records it shows, or `any`."""
    description: str
    """What one sees in it, in a sentence."""
    data: Callable[..., Any]
    """From a `RunSet` to what is drawn; further arguments are choices with defaults."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""
    says = old_word("says", "description")

    def __post_init__(self) -> None:
        FIGURES.joined(self)

    @property
    def built_in(self) -> bool:
        """Return whether it is part of this package."""
        return self.data.__module__.startswith("workbench.")

    def choose(self, runs: RunSet, /, **choices: Any) -> Any:
        """Compute what is drawn, with choices by name, such as `measure` or `seed`.

        Raises
        ------
        InputError
            There is no such choice, or the figure cannot be drawn of these runs.
        """
        _, *known = inspect.signature(self.data).parameters
        for name in choices:
            if name not in known:
                raise unknown_name("", f"choice of {self.name}", name, known)
        return self.data(runs, **choices)

    def serves(self, engine: str) -> bool:
        """Return whether it can be drawn of runs of an engine."""
        return self.engine in (ANY, engine)
