"""What a figure is, and every figure by name.

A figure is data, then ink: a function returns what is drawn as a named tuple, which tests and CSV files can hold, and
another draws it. `Recipe` is a figure of runs, `Calculation` one of theory, `OfStudy` one of a tuning study; a recipe
enters itself when it is made.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from workbench.errors import unknown_name
from workbench.figures.figure_files import save
from workbench.mechanisms.catalogue import OWN, brought
from workbench.parts.registry import Guests, Registry, attribute, first_paragraph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.experiments.results import Results
    from workbench.tuning.results import StudyResults


ANY = "any"
"""The engine of a figure that needs nothing but measures."""
Data = TypeVar("Data")


def _of_manifests(kind: str) -> dict[str, Callable[[], Any]]:
    """Return the function that imports each figure that the manifests name, by its name."""
    return {name: attribute(place) for one in OWN.values() for name, place in getattr(one, kind).items()}


FIGURES: Registry[Recipe] = Registry(
    "figure",
    later=_of_manifests("figures"),
    guests=Guests(
        "figure",
        lambda value: isinstance(value, Recipe),
        within_by="engine",
        home=lambda recipe: recipe.data.__module__,
        more=lambda: brought("figures", "figure"),
    ),
)


def on_paper(draw: Callable[[Data], Figure]) -> Callable[[Data], Figure]:
    """Let a draw function draw in the style of the workbench; Matplotlib is imported when it is first called.

    What it returns raises a WorkbenchError that says what to install where there is no Matplotlib.
    """

    @functools.wraps(draw)
    def drawn(data: Data) -> Figure:
        from workbench.figures import plot_style

        with plot_style.paper():
            return draw(data)

    return drawn


def _check_choices(figure: str, known: list[str], choices: Mapping[str, Any]) -> None:
    for name in choices:
        if name not in known:
            raise unknown_name("", f"choice of {figure}", name, known)


@dataclass(frozen=True)
class Recipe:
    """One figure of runs; made again, it takes the place of an earlier one of the user's.

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
    """From a `Results` to what is drawn; further arguments are choices with defaults."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""

    def __post_init__(self) -> None:
        FIGURES.joined(self)

    @property
    def built_in(self) -> bool:
        """Return whether it is part of this package."""
        return self.data.__module__.startswith("workbench.")

    def choose(self, runs: Results, /, **choices: Any) -> Any:
        """Compute what is drawn, with choices by name, such as `measure` or `seed`.

        Raises
        ------
        InputError
            There is no such choice, the figure cannot be drawn of these runs, or they are those of a shard.
        """
        _check_choices(self.name, [*inspect.signature(self.data).parameters][1:], choices)
        runs.check_whole()
        return self.data(runs, **choices)

    def serves(self, engine: str) -> bool:
        """Return whether it can be drawn of runs of an engine."""
        return self.engine in (ANY, engine)


def recipe(engine: str, data: Callable[..., Any], draw: Callable[[Any], Figure]) -> Recipe:
    """Return a figure of this package: `NAME_data` names it, and what that returns says what one sees."""
    drawn = data.__globals__[data.__annotations__["return"]]
    return Recipe(data.__name__.removesuffix("_data"), engine, first_paragraph(drawn.__doc__), data, draw)


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

    def choose(self, **choices: Any) -> Any:
        """Compute what is drawn, with choices by name, such as `free` or `demands`.

        Raises
        ------
        InputError
            There is no such choice, or a value is not allowed.
        """
        _check_choices(self.name, [*inspect.signature(self.data).parameters], choices)
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


class OfStudy(NamedTuple):
    """One figure of a study."""

    name: str
    description: str
    """What one sees in it, in a sentence."""
    data: Callable[[StudyResults], Any]
    """What is drawn; None where the study has nothing of the kind."""
    draw: Callable[[Any], Figure]
    """From what is drawn to a Matplotlib figure, which a notebook cell shows as it is."""

    def figure(self, results: StudyResults) -> Figure | None:
        """Return the figure of a study, drawn with Matplotlib; a notebook cell shows it."""
        data = self.data(results)
        return None if data is None else self.draw(data)

    def save(self, results: StudyResults, folder: Path) -> list[Path]:
        """Return the figure as `name`.pdf, .png and .csv in a folder; no file where there is nothing to draw.

        Raises
        ------
        StoreError
            A file cannot be written.
        """
        data = self.data(results)
        return [] if data is None else save(self.draw(data), data, folder, self.name)


CALCULATIONS: Registry[Calculation] = Registry("figure", "calculated figure", later=_of_manifests("calculations"))
STUDY_FIGURES: Registry[OfStudy] = Registry("figure", "figure of a study", later=_of_manifests("study_figures"))
