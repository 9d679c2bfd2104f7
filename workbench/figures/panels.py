"""Which points share a panel? A panel is one machine and workload, a line is one way to run it."""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import InputError
from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import words_of
from workbench.figures.line_names import LineNames

MOST_PANELS = 8
"""More do not fit on a page."""
MOST_LINES = 12
"""More cannot be told apart in grey."""

_SETTING = ("machine", "workload")
"""The keys of a sweep that say what all policies of a comparison share."""


class Line(NamedTuple):
    """One point as a panel shows it."""

    name: str
    """The policies, and the options, that the sweep varies."""
    style: int
    """Its place among all lines of the sweep, baselines first: a name looks the same in every panel and figure."""
    point: PlannedPoint


class Panel(NamedTuple):
    """One setting: a machine and a workload."""

    title: str
    """The varied levers of machine and workload with their values; empty where there is one setting alone."""
    lines: list[Line]


def panels(runs: RunSet, apart: str | None = None) -> list[Panel]:
    """Return the points of a sweep by setting, in the order of the sweep.

    Parameters
    ----------
    apart : str, optional
        The path of a varied lever that sets neither panels nor lines apart, because an axis shows it.
    """
    names = LineNames(runs, apart)
    styles = _styles(runs, names)
    lines_by_title: dict[str, list[Line]] = {}
    for point in runs.points:
        name = names.of(point)
        lines_by_title.setdefault(_title(runs, point, apart), []).append(Line(name, styles[name], point))
    return [Panel(title, lines) for title, lines in lines_by_title.items()]


def drawn_panels(runs: RunSet, figure: str) -> list[Panel]:
    """Return the panels of a sweep for a figure that draws every point as a line of its own.

    Raises
    ------
    InputError
        There are too many panels, or too many lines in one; the sentence says what to do.
    """
    all_panels = panels(runs)
    check_room(len(all_panels), max(len(panel.lines) for panel in all_panels), figure)
    return all_panels


def lines_apart(runs: RunSet, figure: str) -> list[tuple[str, Line]]:
    """Return every point of a sweep with the title of its setting, for a figure that gives each a panel of its own.

    Raises
    ------
    InputError
        There are too many; the sentence says what to do.
    """
    lines = [(panel.title, line) for panel in panels(runs) for line in panel.lines]
    check_room(len(lines), 1, figure)
    return lines


def check_room(panels: int, lines: int, figure: str) -> None:
    """Refuse more panels than a page holds, and more lines than a panel can tell apart.

    Raises
    ------
    InputError
        There are too many; the sentence says what to do.
    """
    cure = "Narrow the sweep with set=" + (", or draw saving_by_policy." if figure != "saving_by_policy" else ".")
    if panels > MOST_PANELS:
        raise InputError(f"{figure} needs {panels} panels for this sweep; a page holds {MOST_PANELS}. {cure}")
    if lines > MOST_LINES:
        raise InputError(f"{figure} needs {lines} lines in a panel; only {MOST_LINES} can be told apart. {cure}")


def _styles(runs: RunSet, names: LineNames) -> dict[str, int]:
    compared_with = {point.baseline for point in runs.points}
    baselines_first = sorted(runs.points, key=lambda point: point.id not in compared_with)
    different = dict.fromkeys(names.of(point) for point in baselines_first)
    return {name: place for place, name in enumerate(different)}


def _title(runs: RunSet, point: PlannedPoint, apart: str | None) -> str:
    varied_paths = [path for path in runs.varied if path.split(".")[0] in _SETTING and path != apart]
    paths = [path for path in varied_paths if not _told_inside(path, varied_paths)]
    return ", ".join(words_of(path, point.setup, point.coordinates.get(path)) for path in paths)


def _told_inside(path: str, paths: list[str]) -> bool:
    """Return whether a choice that holds this one is shown already."""
    return any(path != other and path.startswith((f"{other}.", f"{other}[")) for other in paths)
