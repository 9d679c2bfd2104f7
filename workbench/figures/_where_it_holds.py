"""Map of two varied numbers: where a policy beats its baseline, and where not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.results import Results
from workbench.figures.estimates import chosen_measure, gain_label, gain_of
from workbench.figures.figure_files import Column, below
from workbench.figures.labels import axis_label, outermost, words_of
from workbench.figures.panels import check_room
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.number_text import FIGURE, to_decimals
from workbench.statistics.floors import ALPHA
from workbench.statistics.summary import Place, numbers, where_it_holds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_NUMBERED = 100
"""Places of a panel whose numbers are written into them."""
VERDICTS = ("better", "undecided", "worse")


class Region(NamedTuple):
    """One panel."""

    setting: str
    """The policy, and whatever else the sweep varies."""
    x: np.ndarray
    """float64[places]"""
    y: np.ndarray
    verdict: tuple[str, ...]
    """`better`, `worse` or `undecided`."""
    gain: np.ndarray
    """float64[places], the speed-up in per cent, or the mean difference, and the limits of its interval."""
    low: np.ndarray
    high: np.ndarray
    p_size: np.ndarray
    """float64[places], corrected over all places."""
    p_direction: np.ndarray
    n: np.ndarray
    """int64[places], paired seeds."""


class WhereItHolds(NamedTuple):
    """Where in a region of two varied numbers each policy beats its baseline, and where it does worse."""

    measure: str
    label: str
    """Of the numbers in the places."""
    unit: str
    """`percent` of speed-ups, or the measure's."""
    x: str
    """The label of the horizontal axis, and of the vertical one."""
    y: str
    correction: str
    regions: tuple[Region, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a place."""
        return below(
            {
                "setting": region.setting,
                self.x: region.x,
                self.y: region.y,
                "verdict": region.verdict,
                f"gain_{self.unit}": region.gain,
                f"low_{self.unit}": region.low,
                f"high_{self.unit}": region.high,
                f"p_size_{self.correction}": region.p_size,
                f"p_direction_{self.correction}": region.p_direction,
                "seeds": region.n,
            }
            for region in self.regions
        )


def where_it_holds_data(
    runs: Results,
    measure: str | None = None,
    x: str | None = None,
    y: str | None = None,
    correction: str = "false_discovery",
) -> WhereItHolds:
    """Compute every place of the region with its verdict (`studies.where_it_holds`), one panel a policy and setting.

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    x, y : str, optional
        The dotted paths of two varied numbers; needed where the sweep varies more than two.
    correction : {"false_discovery", "holm"}
        Over all places of all panels.

    Raises
    ------
    InputError
        The sweep does not vary two numbers, or more and it is not said which; there is nothing to compare; there are
        more panels than a page holds; or these are some points of a sweep, whose p-values are corrected over all.
    """
    if runs.whole is not None:
        raise InputError("where_it_holds corrects its p-values over all points of a sweep: draw it of all of them.")
    declared = chosen_measure(runs, measure, runs.plan.sweep.measures[0])
    across, up = _axes(runs, x, y)
    places = where_it_holds(runs, declared, across, up, correction)
    by_setting: dict[str, list[Place]] = {}
    for place in places:
        by_setting.setdefault(_setting(runs, place, across, up), []).append(place)
    check_room(len(by_setting), 1, "where_it_holds")
    setup = places[0].point.setup
    baselines = {_baseline(runs, place) for place in places}
    labels = axis_label(across, setup), axis_label(up, setup)
    is_ratio = all(place.verdict.of.is_ratio for place in places)
    return WhereItHolds(
        declared.name,
        gain_label(declared, baselines, is_ratio),
        "percent" if is_ratio else declared.unit or "value",
        *(labels if labels[0] != labels[1] else (across, up)),
        correction,
        tuple(_region(setting, group, is_ratio) for setting, group in by_setting.items()),
    )


def _axes(runs: Results, x: str | None, y: str | None) -> tuple[str, str]:
    known = numbers(runs)
    for path in (x, y):
        if path is not None and path not in known:
            raise unknown_name("", "varied number", path, known)
    chosen = [path for path in (x, y) if path is not None]
    left = [path for path in known if path not in chosen]
    if len(known) < 2:
        raise InputError(f"where_it_holds needs two varied numbers; this sweep varies {', '.join(known) or 'none'}.")
    if len(chosen) < 2 < len(known):
        raise InputError(f"where_it_holds needs to know which two numbers, x= and y=; there are {', '.join(known)}.")
    return (x if x is not None else left.pop(0)), (y if y is not None else left.pop(0))


def _setting(runs: Results, place: Place, x: str, y: str) -> str:
    """Return the name of a panel: every coordinate but the two of the map; a policy that holds one of them by its
    name."""
    paths = [path for path in runs.varied if path not in (x, y) and place.point.coordinates.get(path) is not None]
    return ", ".join(_words(place, path, x, y) for path in outermost(paths))


def _words(place: Place, path: str, x: str, y: str) -> str:
    point = place.point
    if path.startswith("policy.") and any(axis.startswith(f"{path}.") for axis in (x, y)):
        return point.setup.policies[path.split(".")[1]].name
    value = point.coordinates[path]
    return str(value) if path.startswith("policy.") else words_of(path, point.setup, value)


def _baseline(runs: Results, place: Place) -> str:
    baseline = runs.baseline_of(place.point)
    assert baseline is not None
    slots = runs.plan.sweep.config.get("baseline") or {}
    named = [baseline.setup.policies[slot].short() for slot in slots if slot in baseline.setup.policies]
    return ", ".join(named) or "the baseline"


def _region(setting: str, places: list[Place], is_ratio: bool) -> Region:
    verdicts = [place.verdict for place in places]
    gains = [gain_of(one.of, is_ratio) for one in verdicts]
    rows = [(p.x, p.y, *gain[:3], p.verdict.p_size, p.verdict.p_direction) for p, gain in zip(places, gains)]
    n = np.array([one.of.n for one in verdicts])
    x, y, gain, low, high, p_size, p_direction = np.array(rows, float).T
    words = tuple(one.side or "undecided" for one in verdicts)
    return Region(setting, x, y, words, gain, low, high, p_size, p_direction, n)


@on_paper
def draw(data: WhereItHolds) -> Figure:
    """Draw cells where the places form a grid, dots where they do not: blue = better, hatched orange = worse."""
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(len(data.regions), 2.3 if len(data.regions) == 1 else 1.9)
    for one, region in zip(axes, data.regions, strict=True):
        frame.title(one, region.setting)
        (_cells if is_grid(region) else _dots)(one, region)
    frame.name_sides(axes, data.x, data.y, _note(data))
    frame.legend(figure, axes)
    return figure


def is_grid(region: Region) -> bool:
    """Return whether there is one place for every pair of an x and a y, two of each at least."""
    across, up = np.unique(region.x), np.unique(region.y)
    different = len(set(zip(region.x.tolist(), region.y.tolist())))
    return different == len(region.x) == len(across) * len(up) and min(len(across), len(up)) > 1


def edges(centres: np.ndarray) -> np.ndarray:
    """Return the borders of cells around rising centers: midway, on a log scale where the centers span a factor of
    eight.

    >>> edges(np.array([1.0, 2.0, 4.0])), edges(np.array([1.0, 10.0, 100.0])).round(2)
    (array([0.5, 1.5, 3. , 5. ]), array([  0.32,   3.16,  31.62, 316.23]))
    """
    if is_log(centres):
        return np.asarray(np.exp(edges_between(np.log(centres))))
    return edges_between(centres)


def is_log(centres: np.ndarray) -> bool:
    """Return whether an axis is logarithmic: its values span a factor of eight, and lie more evenly so.

    >>> is_log(np.array([16, 64, 256])), is_log(np.array([0.1, 0.5, 0.9])), is_log(np.array([2, 3, 4]))
    (True, False, False)
    """
    if not 0 < 8 * centres[0] <= centres[-1]:
        return False
    middle, ends = np.median(centres), centres[[0, -1]]
    return bool(abs(middle - np.sqrt(ends.prod())) < abs(middle - ends.mean()))


def edges_between(centres: np.ndarray) -> np.ndarray:
    """Return the places midway between neighbors, and as far beyond the ends."""
    middle = (centres[1:] + centres[:-1]) / 2
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def _cells(axes: Axes, region: Region) -> None:
    from matplotlib.patches import Rectangle

    from workbench.figures import plot_style

    across, up = np.unique(region.x), np.unique(region.y)
    left, low = edges(across), edges(up)
    strongest = np.nanmax(np.abs(region.gain[np.isfinite(region.gain)]), initial=1e-9)
    for k, verdict in enumerate(region.verdict):
        i, j = np.searchsorted(across, region.x[k]), np.searchsorted(up, region.y[k])
        size = left[i + 1] - left[i], low[j + 1] - low[j]
        face, hatch = _paint(verdict, region.gain[k] / strongest)
        axes.add_patch(
            Rectangle(
                (left[i], low[j]),
                *size,
                facecolor=face,
                hatch=hatch,
                edgecolor=plot_style.palette().quiet,
                linewidth=0.3,
            )
        )
        if len(region.x) <= MOST_NUMBERED:
            box = {"facecolor": face, "edgecolor": "none", "pad": 0.6} if hatch else None
            x, y = (
                float(np.sqrt(ends[0] * ends[1]) if is_log(centres) else ends.mean())
                for ends, centres in ((left[i : i + 2], across), (low[j : j + 2], up))
            )
            size_of_text = plot_style.SMALL - (1.5 if len(across) > 6 else 0)
            gain = region.gain[k]
            text = "" if np.isnan(gain) else to_decimals(gain, 1, FIGURE, signed=True)
            colour = plot_style.palette().soft if verdict == "undecided" else plot_style.palette().ink
            axes.text(x, y, text, ha="center", va="center", fontsize=size_of_text, color=colour, bbox=box)
    axes.set_xlim(left[0], left[-1])
    axes.set_ylim(low[0], low[-1])
    _ticks(axes, across, up)
    _legend(axes, region)


def _paint(verdict: str, share: float) -> tuple[str, str]:
    """Return the color of a place: the stronger the effect, the fuller; in gray, worse is told by its hatching."""
    from matplotlib.colors import to_hex, to_rgb

    from workbench.figures import plot_style

    if verdict == "undecided":
        return plot_style.palette().paper, ""
    paper = np.array(to_rgb(plot_style.palette().paper))
    full = np.array(to_rgb(plot_style.palette().better if verdict == "better" else plot_style.palette().worse))
    depth = 0.25 + 0.45 * (1.0 if np.isnan(share) else min(abs(share), 1.0))
    return to_hex(tuple(paper + depth * (full - paper))), "" if verdict == "better" else "////"


def _ticks(axes: Axes, across: np.ndarray, up: np.ndarray) -> None:
    for values, scale, ticks in (
        (across, axes.set_xscale, axes.set_xticks),
        (up, axes.set_yscale, axes.set_yticks),
    ):
        if is_log(values):
            scale("log")
        if len(values) <= 12:
            ticks(values, [f"{value:g}" for value in values])
    axes.minorticks_off()


def _dots(axes: Axes, region: Region) -> None:
    from workbench.figures import plot_style

    verdicts = np.array(region.verdict)
    look: dict[str, Any] = {"s": 18, "edgecolors": plot_style.palette().paper, "linewidths": 0.3}
    shapes = {
        "better": ("o", plot_style.palette().better),
        "undecided": (".", plot_style.palette().quiet),
        "worse": ("X", plot_style.palette().worse),
    }
    for verdict in VERDICTS:
        if (kept := verdicts == verdict).any():
            shape, colour = shapes[verdict]
            axes.scatter(region.x[kept], region.y[kept], marker=shape, c=colour, label=verdict, **look)
    if is_log(np.unique(region.x)):
        axes.set_xscale("log")
    if is_log(np.unique(region.y)):
        axes.set_yscale("log")
    axes.margins(0.05)


def _legend(axes: Axes, region: Region) -> None:
    """Draw a patch of no size a verdict: cells are as full as their effect is strong, and the legend shows one of
    them."""
    from matplotlib.patches import Rectangle

    from workbench.figures import plot_style

    for verdict in VERDICTS:
        if verdict in region.verdict:
            face, hatch = _paint(verdict, 0.7)
            empty = Rectangle(
                (region.x[0], region.y[0]), 0, 0, edgecolor=plot_style.palette().quiet, linewidth=0.3, label=verdict
            )
            empty.set(facecolor=face, hatch=hatch)
            axes.add_patch(empty)


def _note(data: WhereItHolds) -> str:
    ways = {"holm": f"p < {ALPHA:g} (Holm)", "false_discovery": f"false discovery rate < {ALPHA:g}"}
    verdicts = [verdict for region in data.regions for verdict in region.verdict]
    counts = {int(n) for region in data.regions for n in region.n}
    seeds = f"{min(counts)} to {max(counts)}" if len(counts) > 1 else str(max(counts))
    message = f"{verdicts.count('better')} better, {verdicts.count('worse')} worse of {len(verdicts)} places"
    return (
        f"{data.label}\n{message}, {seeds} paired seeds each\n"
        f"coloured: better or worse in size or direction, {ways[data.correction]}"
    )


WHERE_IT_HOLDS_FIGURE = recipe(ANY, where_it_holds_data, draw)
