"""The points of a sweep as lines in panels: which share one, and which runs they show.

A panel is one machine and workload, a line one way to run it. A figure of single runs shows one seed that every point
finished, and a span of its cycles.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.errors import InputError, shown
from workbench.experiments.results import Results
from workbench.figures.labels import LineNames, outermost, words_of
from workbench.runs.run import PlannedPoint, run_id

MOST_PANELS = 8
"""More do not fit on a page."""
MOST_LINES = 12
"""More cannot be told apart in gray."""

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


def panels(runs: Results, excluded: str | None = None) -> list[Panel]:
    """Return the points of a sweep by setting, in the order of the sweep.

    Parameters
    ----------
    excluded : str, optional
        The path of a varied lever that sets neither panels nor lines apart, because an axis shows it.
    """
    names = LineNames(runs, excluded)
    styles = _styles(runs, names)
    lines_by_title: dict[str, list[Line]] = {}
    for point in runs.points:
        name = names.of(point)
        lines_by_title.setdefault(_title(runs, point, excluded), []).append(Line(name, styles[name], point))
    return [Panel(title, lines) for title, lines in lines_by_title.items()]


def drawn_panels(runs: Results, figure: str) -> list[Panel]:
    """Return the panels of a sweep for a figure that draws every point as a line of its own.

    Raises
    ------
    InputError
        There are too many panels, or too many lines in one; the sentence says what to do.
    """
    all_panels = panels(runs)
    check_room(len(all_panels), max(len(panel.lines) for panel in all_panels), figure)
    return all_panels


def separate_lines(runs: Results, figure: str) -> list[tuple[str, Line]]:
    """Return every point of a sweep with the title of its setting, for a figure that gives each a panel of its own.

    Raises
    ------
    InputError
        There are too many; the sentence says what to do.
    """
    lines = [(panel.title, line) for panel in panels(runs) for line in panel.lines]
    check_room(len(lines), 1, figure)
    return lines


def one_run_each(runs: Results, seed: int | None, figure: str) -> tuple[int, list[tuple[str, str, Any]]]:
    """Return a seed and what happened with it in every point, each with the title of its setting and its name, for a
    figure that gives each a panel of its own.

    Raises
    ------
    InputError
        There are too many points, or no such seed that every point finished.
    """
    lines = separate_lines(runs, figure)
    chosen = common_seed(runs, seed, figure)
    return chosen, [(title, line.name, runs.record(run_id(line.point.id, chosen))) for title, line in lines]


def heading(*parts: str) -> str:
    """Return the title of a panel of a setting and a line; one that is empty is left out."""
    return ": ".join(filter(None, parts))


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


def _styles(runs: Results, names: LineNames) -> dict[str, int]:
    compared_with = {point.baseline for point in runs.points}
    baselines_first = sorted(runs.points, key=lambda point: point.id not in compared_with)
    different = dict.fromkeys(names.of(point) for point in baselines_first)
    return {name: place for place, name in enumerate(different)}


def _title(runs: Results, point: PlannedPoint, excluded: str | None) -> str:
    varied_paths = [path for path in runs.varied if path.split(".")[0] in _SETTING and path != excluded]
    return ", ".join(words_of(path, point.setup, point.coordinates.get(path)) for path in outermost(varied_paths))


def common_seed(runs: Results, requested: int | None, figure: str) -> int:
    """Return the seed that is wanted, or the first that every point finished.

    Raises
    ------
    InputError
        A point has no finished run, or no seed (or not the one wanted) was finished by all.
    """
    finished = [
        {row.seed for row in runs.rows.values() if row.point == p.id and row.status == "done"} for p in runs.points
    ]
    for point, seeds in zip(runs.points, finished, strict=True):
        if not seeds:
            raise none_finished(runs, point, figure)
    common = [seed for seed in runs.seeds if all(seed in seeds for seeds in finished)]
    if not common:
        raise InputError(f"{figure} needs one seed that every point finished; there is none.")
    if requested is not None and requested not in common:
        raise InputError(f"{figure} needs a seed that every point finished. Got {requested}. Nearest: {common[0]}.")
    return common[0] if requested is None else requested


def span_words(first: int, last: int, ends: Sequence[int]) -> str:
    """Return the part of some runs that a picture shows, from when to when, where the runs end at these cycles.

    >>> span_words(0, 800, [5000, 6400]), span_words(0, 90, [90, 80]), span_words(10, 60, [100])
    ('cycles 0 to 800 of 5,000 to 6,400 (12 to 16 %)', 'whole runs', 'cycles 10 to 60 of 100 (50 %)')
    """
    if first == 0 and last >= max(ends):
        return "whole runs" if len(ends) > 1 else "the whole run"
    shares = sorted(100 * max(min(last, end) - first, 0) / max(end, 1) for end in ends)
    of = " to ".join(dict.fromkeys(f"{end:,}" for end in (min(ends), max(ends))))
    percent = " to ".join(
        dict.fromkeys(f"{share:.0f}" if share >= 1 else "under 1" for share in (shares[0], shares[-1]))
    )
    return f"cycles {first:,} to {last:,} of {of} ({percent} %)"


def chosen_span(cycles: Any, figure: str, what: str = "cycles") -> tuple[int, int]:
    """Return from when to when, as chosen: two whole numbers, the second beyond what is shown.

    Raises
    ------
    InputError
        They are no span.
    """
    try:
        first, last = map(operator.index, cycles)
    except (TypeError, ValueError):
        first, last = 0, 0
    if not 0 <= first < last:
        raise InputError(f"{figure} shows {what}=(from, to) with 0 <= from < to. Got {shown(cycles)}.")
    return first, last


def records(runs: Results, point: PlannedPoint, figure: str) -> list[Any]:
    """Return the records of the finished runs of a point, simulated again, in the order of the seeds.

    Raises
    ------
    InputError
        The point has no finished run.
    """
    result = runs.records(point)
    if not result:
        raise none_finished(runs, point, figure)
    return result


def values(runs: Results, point: PlannedPoint, measure: str, figure: str) -> dict[int, float]:
    """Return a measure of a point by seed, the runs left out for which it is not defined: perhaps all.

    Raises
    ------
    InputError
        There is no such measure, or the point has no finished run.
    """
    result = runs.values(point, measure)
    if not result:
        raise none_finished(runs, point, figure)
    return {seed: value for seed, value in result.items() if math.isfinite(value)}


def undefined(runs: Results, point: PlannedPoint, measure: str, figure: str) -> InputError:
    """Say that a measure is defined for no run of a point, and why where its runs hang."""
    label, hang = runs.label(point), runs.hang(point)
    if hang is not None:
        hangs = f"{label} hangs ({hang.never_started} groups never start)"
        return InputError(f"{figure} needs {measure}, which a run that hangs does not have: {hangs}.")
    return InputError(f"{figure} needs {measure}, which is not defined for {label}.")


def none_finished(runs: Results, point: PlannedPoint, figure: str) -> InputError:
    """Say that a point has no finished run, and why."""
    errors = [row.error for row in runs.failures if row.point == point.id]
    why = f"{len(errors)} failed, the first: {errors[0]}" if errors else "run the sweep first."
    return InputError(f"{figure} needs a finished run of every point; {runs.label(point)} has none: {why}")
