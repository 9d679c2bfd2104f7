"""How many times faster than the baseline, against a varied number, with the break-even.

A speed-up is a quotient of paired seeds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, draw_curves
from workbench.figures._trends import TREND_LOOK, chosen_lever, lever_label, trend_groups
from workbench.figures.estimates import means_of, measure_of
from workbench.figures.labels import measure_words
from workbench.figures.panels import Line, values
from workbench.figures.registry import Recipe
from workbench.statistics.comparisons import comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _of_speed_ups(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Draw a thin line at 1, and a dotted one at each break-even."""
    for line in lines:
        if math.isfinite(line.more["break_even"]):
            axes.axvline(line.more["break_even"], color="0.4", linewidth=0.6, linestyle=":")
    axes.axhline(1, color="0.4", linewidth=0.6)
    axes.set_yscale("log", base=2)


_SPEED_UPS = TREND_LOOK._replace(panel=_of_speed_ups, estimate="geometric mean")


def break_even(x: np.ndarray, times: np.ndarray) -> float:
    """Return the value at which a speed-up passes 1 for the last time, between two values that were run, on the scale
    of doublings; NaN where it does not.

    >>> break_even(np.array([1.0, 4.0]), np.array([0.5, 2.0]))
    2.0
    >>> break_even(np.array([1.0, 4.0]), np.array([1.5, 2.0]))
    nan
    """
    away = np.log2(times)
    passes = np.flatnonzero((away[:-1] * away[1:] <= 0) & (away[:-1] != away[1:]))
    if not len(passes):
        return float("nan")
    k = int(passes[-1])
    share = away[k] / (away[k] - away[k + 1])
    return float(x[k] * (x[k + 1] / x[k]) ** share)


def speed_up_data(runs: Results, measure: str = "makespan_cycles", lever: str | None = None) -> Curves:
    """Compute the geometric mean of the paired ratios to the baseline, above 1 = better, at each value of a varied
    number.

    Parameters
    ----------
    measure : str
        A measure that is compared by ratios.
    lever : str, optional
        The dotted path of the varied number on the axis; needed where a sweep varies more than one.

    Raises
    ------
    InputError
        No point has a baseline, the measure is not compared by ratios or has values of 0, or there is no one varied
        number.
    """
    declared = measure_of(runs, measure)
    if declared.better == "neither" or declared.compared_by != "ratio":
        raise InputError(
            f"speed_up needs a measure that is compared by ratios, such as a completion time. Got {measure}."
        )
    path = chosen_lever(runs, lever, "speed_up")
    titles, groups = trend_groups(runs, path, "speed_up")
    against = [(place, [line for line in lines if runs.baseline_of(line.point) is not None]) for place, lines in groups]
    lines = tuple(_speed_up(runs, place, path, measure, lines) for place, lines in against if lines)
    if not lines:
        raise InputError("speed_up compares points with a baseline, and no point of this sweep has one.")
    names, label = (f"speed_up_{measure}", "low", "high"), f"speed-up in {measure_words(declared)}"
    return Curves(path, lever_label(runs, path), names, label, tuple(titles), lines, _SPEED_UPS)


def _speed_up(runs: Results, panel: int, path: str, measure: str, lines: list[Line]) -> Curve:
    lines = sorted(lines, key=lambda line: float(line.point.coordinates[path]))
    intervals = []
    for line in lines:
        values(runs, line.point, measure, "speed_up")
        one = comparison(runs, line.point, measure)
        if one is None or not one.is_ratio:
            raise InputError(f"speed_up needs values of {measure} above 0; {line.name} has others.")
        intervals.append(one.size)
    x = np.array([float(line.point.coordinates[path]) for line in lines])
    times, n = means_of(intervals), np.array([one.n for one in intervals])
    return Curve(panel, *lines[0][:2], n, x, times, {"break_even": break_even(x, times.mean)})


SPEED_UP_FIGURE = Recipe(
    "speed_up",
    "malloc",
    "How many times faster than the baseline, against a varied number, with the break-even.",
    speed_up_data,
    draw_curves,
)
