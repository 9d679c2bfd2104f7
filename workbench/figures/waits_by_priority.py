"""How long each priority waits, against a varied number; where none is varied, priority by priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import unknown_name
from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, draw_curves
from workbench.figures._trends import (
    TREND_LOOK,
    chosen_lever,
    lever_label,
    lines_by_name,
    numbers_of,
    points_over,
    trend_curves,
    trend_of,
)
from workbench.figures.estimates import measure_of
from workbench.figures.panels import Line, check_room, drawn_panels, heading, panels
from workbench.figures.registry import Recipe

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PRIORITIES = range(1, 9)
WAITS = ("wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles")
FAR_APART = 30
"""Where the longest waiting is so many times the shortest, the axis is logarithmic."""


def _of_waits(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Set the axis of waiting logarithmic where the longest is far above the shortest."""
    waits = np.concatenate([line.means.mean for line in data.lines])
    if waits.min() > 0 and waits.max() >= FAR_APART * waits.min():
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)


_WAITS = TREND_LOOK._replace(panel=_of_waits, left_out="")


def waits_by_priority_data(runs: Results, measure: str = "wait_p99_cycles", lever: str | None = None) -> Curves:
    """Compute the mean over the seeds of the waiting of each priority, with its 95 % interval.

    Against a varied number every policy has a panel with a line a priority; where no number is varied, a setting has a
    panel with a line a policy, over the priorities.

    Parameters
    ----------
    measure : {"wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles"}
        Which waiting.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        Several numbers are varied and none is named, there are more panels or lines than can be drawn, or no run has
        groups.
    """
    if measure not in WAITS:
        raise unknown_name("", "waiting of waits_by_priority", measure, WAITS)
    figure, declared = "waits_by_priority", measure_of(runs, measure)
    titles, lines, hung = list[str](), list[Curve](), list[str]()
    if lever is None and not any(len(numbers_of(runs, path)) > 1 for path in runs.varied):
        for panel in drawn_panels(runs, figure):
            for line in panel.lines:
                places = {level: (line.point, f"{measure}[{level}]") for level in PRIORITIES}
                lines.append(trend_of(runs, len(titles), line, places, figure))
                if not len(lines[-1].x) and runs.hang(line.point) is not None:
                    hung.append(heading(panel.title, line.name))
            titles.append(panel.title)
        look = _WAITS._replace(ticks="each", left_out="hangs" if hung else "")
        curves = trend_curves(runs, declared, "priority", "priority (1 = most urgent)", titles, lines, look, figure)
        return curves._replace(without=tuple(hung))
    path = chosen_lever(runs, lever, figure)
    for panel in panels(runs, excluded=path):
        for ours in lines_by_name(panel.lines):
            points = points_over(runs, path, ours)
            for level in PRIORITIES:
                name = f"priority {level}" + (" (most urgent)" if level == PRIORITIES[0] else "")
                line = Line(name, level - 1, ours[0].point)
                places = {x: (point, f"{measure}[{level}]") for x, point in points}
                lines.append(trend_of(runs, len(titles), line, places, figure))
            titles.append(heading(panel.title, ours[0].name))
    check_room(len(titles), 1, figure)
    return trend_curves(runs, declared, path, lever_label(runs, path), titles, lines, _WAITS, figure)


WAITS_BY_PRIORITY_FIGURE = Recipe(
    "waits_by_priority",
    "dispatch",
    "How long each priority waits, against a varied number or priority by priority, with intervals.",
    waits_by_priority_data,
    draw_curves,
)
