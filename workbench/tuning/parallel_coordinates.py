"""The axes over which the front of a study is drawn as lines: first the levers that move, then the objectives.

A line is a point of the front. It crosses each axis at the place of its value between the two ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from workbench.number_text import number
from workbench.tuning.dimension import Dimension
from workbench.tuning.results import StudyResults
from workbench.tuning.space import dimensions
from workbench.tuning.study import Trial, table_value

MOST_AXES = 8
"""Of levers that are shown."""


class ParallelAxis(NamedTuple):
    """One axis: a lever or an objective."""

    name: str
    range_labels: tuple[str, str]
    """What stands at 0 and at 1."""
    labels: tuple[str, ...]
    """What each line has there; empty where the lever did not matter to it."""
    positions: tuple[float, ...]
    """Where each line crosses it, from 0 to 1; NaN where the lever did not matter to it."""


def parallel_axes(results: StudyResults, levers: Sequence[str] = ()) -> list[ParallelAxis]:
    """Return the axes over which the front of a study is drawn: levers, then objectives, on the hold-out seeds where it
    was run there, else on the study's own.

    Parameters
    ----------
    levers : sequence of str
        The levers in the order of their importance, the first of which are shown; in the order of the study where it is
        empty. A lever that has one value on the whole front is left out.
    """
    front = results.best_trials
    known = {dimension.path: dimension for dimension in dimensions(results.study.space)}
    wanted = [path for path in levers if path in known] or list(known)
    axes = [_lever_axis(known[path], front) for path in wanted]
    moving = [axis for axis in axes if len(set(axis.labels)) > 1][:MOST_AXES]
    means = [list(trial.values or ()) for trial in front] if results.holdout is None else results.front.means
    names = [one.measure.name for one in results.study.objectives]
    return [*moving, *(_number_axis(name, [row[k] for row in means]) for k, name in enumerate(names))]


def _lever_axis(dimension: Dimension, front: Sequence[Trial]) -> ParallelAxis:
    chosen = [trial.proposal.chosen.get(dimension.path) for trial in front]
    labels = tuple("" if value is None else str(table_value(value)) for value in chosen)
    positions = tuple(math.nan if value is None else _position(dimension, value) for value in chosen)
    low, high = (dimension.value(_axis_end(dimension, k)) for k in (0, 1))
    return ParallelAxis(dimension.path, (str(table_value(low)), str(table_value(high))), labels, positions)


def _axis_end(dimension: Dimension, which: int) -> Any:
    if dimension.kind == "category":
        return dimension.labels[-which]
    end = (dimension.least, dimension.most)[which]
    return end if dimension.kind == "number" else int(end)


def _position(dimension: Dimension, value: Any) -> float:
    """Return the place of a value between the ends of its axis."""
    if dimension.kind == "category":
        return dimension.values.index(value) / max(len(dimension.values) - 1, 1)
    low, high, position = dimension.least, dimension.most, float(dimension.parameter(value))
    if dimension.log:
        low, high, position = math.log(low), math.log(high), math.log(position)
    return (position - low) / (high - low) if high > low else 0.5


def _number_axis(name: str, values: Sequence[float]) -> ParallelAxis:
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    positions = tuple(_normalized(value, low, high) for value in values)
    return ParallelAxis(name, (number(low), number(high)), tuple(map(number, values)), positions)


def _normalized(value: float, low: float, high: float) -> float:
    """Return the place of a value between two ends; NaN of one that is not finite."""
    if not math.isfinite(value):
        return math.nan
    return (value - low) / (high - low) if high > low else 0.5
