"""How long does each priority wait? Against a varied number, or, where none is varied, priority by priority."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import unknown_name
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import measure_label
from workbench.figures.compared import measure_of
from workbench.figures.finished import undefined, values
from workbench.figures.means import level_of, means_of, rests_on
from workbench.figures.measure_by_lever import (
    MeasureByLever,
    Trend,
    chosen_lever,
    lever_label,
    numbers_of,
    trend,
)
from workbench.figures.panels import Line, check_room, drawn_panels, panels
from workbench.figures.recipe import Recipe, on_paper
from workbench.studies.statistics import mean_interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PRIORITIES = range(1, 9)
MEASURES = ("wait_mean_cycles", "wait_p99_cycles", "wait_max_cycles")
FAR_APART = 30
"""Where the longest waiting is so many times the shortest, the axis is logarithmic."""


def waits_by_priority_data(runs: RunSet, measure: str = "wait_p99_cycles", lever: str | None = None) -> MeasureByLever:
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
    if measure not in MEASURES:
        raise unknown_name("", f"waiting of {FIGURE.name}", measure, MEASURES)
    numbers = [path for path in runs.varied if len(numbers_of(runs, path)) > 1]
    if lever is None and not numbers:
        return _over_priorities(runs, measure)
    return _over_lever(runs, measure, chosen_lever(runs, lever, FIGURE.name))


def _over_lever(runs: RunSet, measure: str, path: str) -> MeasureByLever:
    titles, lines = [], []
    for panel in panels(runs, apart=path):
        for name in dict.fromkeys(line.name for line in panel.lines):
            titles.append(": ".join(part for part in (panel.title, name) if part))
            ours = [line for line in panel.lines if line.name == name]
            lines += _priorities(runs, len(titles) - 1, path, measure, ours)
    check_room(len(titles), 1, FIGURE.name)
    return _whole(runs, path, measure, lever_label(runs, path), titles, lines)


def _priorities(runs: RunSet, panel: int, path: str, measure: str, lines: list[Line]) -> list[Trend]:
    trends = [trend(runs, panel, path, f"{measure}[{level}]", lines, FIGURE.name) for level in PRIORITIES]
    named = zip(PRIORITIES, trends, strict=True)
    return [one._replace(name=_named(level), style=level - 1) for level, one in named if len(one.x)]


def _named(level: int) -> str:
    """Return what the legend calls a priority."""
    return f"priority {level}" + (" (most urgent)" if level == PRIORITIES[0] else "")


def _over_priorities(runs: RunSet, measure: str) -> MeasureByLever:
    all_panels = drawn_panels(runs, FIGURE.name)
    lines = [_policy(runs, place, line, measure) for place, panel in enumerate(all_panels) for line in panel.lines]
    return _whole(runs, "priority", measure, "priority (1 = most urgent)", [panel.title for panel in all_panels], lines)


def _policy(runs: RunSet, panel: int, line: Line, measure: str) -> Trend:
    names = {level: f"{measure}[{level}]" for level in PRIORITIES}
    intervals = {
        level: mean_interval([*values(runs, line.point, n, FIGURE.name).values()], level=level_of(runs))
        for level, n in names.items()
    }
    defined = {level: interval for level, interval in intervals.items() if interval.n}
    n = np.array([interval.n for interval in defined.values()], int)
    return Trend(panel, line.name, line.style, np.array([*defined], float), means_of(defined.values()), n)


def _whole(
    runs: RunSet, path: str, measure: str, x_label: str, titles: list[str], lines: list[Trend]
) -> MeasureByLever:
    drawn = tuple(line for line in lines if len(line.x))
    if not drawn:
        raise undefined(runs, runs.points[0], measure, FIGURE.name)
    y_label = measure_label(measure_of(runs, measure))
    return MeasureByLever(path, measure, x_label, y_label, tuple(titles), drawn, ())


@on_paper
def draw(data: MeasureByLever) -> Figure:
    """Draw lines with intervals; the axis of waiting is logarithmic where the longest is far above the shortest."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.9 if len(data.titles) == 1 else 1.3, share_x=True)
    for line in data.lines:
        marks.interval_line(axes[line.panel], line.x, line.means, line.style, line.name)
    waits = np.concatenate([line.means.mean for line in data.lines])
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        if waits.min() > 0 and waits.max() >= FAR_APART * waits.min():
            one.set_yscale("log")
        else:
            one.set_ylim(bottom=0)
    if data.lever == "priority":
        axes[-1].set_xticks(np.unique(np.concatenate([line.x for line in data.lines])))
    else:
        frame.value_axis(axes[-1], np.unique(np.concatenate([line.x for line in data.lines])))
    note = rests_on(n for line in data.lines for n in line.n.tolist())
    frame.name_sides(axes, data.x_label, data.y_label, note)
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "waits_by_priority",
    "dispatch",
    "How long each priority waits, against a varied number or priority by priority, with intervals.",
    waits_by_priority_data,
    draw,
)
