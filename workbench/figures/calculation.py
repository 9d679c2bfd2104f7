"""A figure of theory: what is drawn follows from its choices alone, there are no runs behind it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import unknown_name
from workbench.figures.save import save
from workbench.parts.registry import read_by_old_word

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Calculation(NamedTuple):
    """One figure that is calculated."""

    name: str
    description: str
    """What one sees in it, in a sentence."""
    data: Callable[..., Any]
    """What is drawn; every argument is a choice with a default."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""
    example: str = ""
    """How to draw it in Python, where the command cannot, as a choice has no default."""

    @property
    def says(self) -> str:
        """Return the description, by its word of 0.4, with a warning."""
        return str(read_by_old_word(self, "says", "description"))

    def choose(self, **choices: Any) -> Any:
        """Compute what is drawn, with choices by name, such as `free` or `demands`.

        Raises
        ------
        InputError
            There is no such choice, or a value is not allowed.
        """
        known = [*inspect.signature(self.data).parameters]
        for name in choices:
            if name not in known:
                raise unknown_name("", f"choice of {self.name}", name, known)
        return self.data(**{name: self._declared(name, value) for name, value in choices.items()})

    def _declared(self, name: str, value: Any) -> Any:
        """Return a choice; of one that is a group of values, such as a setting, with those that a mapping gives."""
        usual = inspect.signature(self.data).parameters[name].default
        if not (isinstance(value, Mapping) and hasattr(usual, "_replace")):
            return value
        for key in value:
            if key not in usual._fields:
                raise unknown_name("", f"part of {self.name}'s {name}", key, usual._fields)
        return usual._replace(**value)

    def figure(self, **choices: Any) -> Figure:
        """Return the figure, drawn with Matplotlib; a notebook cell shows it."""
        return self.draw(self.choose(**choices))

    def save(self, folder: Path, **choices: Any) -> list[Path]:
        """Return the figure as `name`.pdf, .png and .csv in a folder.

        Raises
        ------
        StoreError
            A file cannot be written.
        """
        data = self.choose(**choices)
        return save(self.draw(data), data, Path(folder), self.name)
