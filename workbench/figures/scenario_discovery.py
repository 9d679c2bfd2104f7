"""Where a policy loses: coverage against density of the peeled boxes, and the box over its pairs of levers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.results import Results
from workbench.explain.discovery import Column as Lever
from workbench.explain.discovery import Scenario, discover, interest_of
from workbench.explain.discovery.scenario import inside_of
from workbench.explain.discovery.sentences import box_condition, points_word
from workbench.figures.figure_files import Column
from workbench.figures.labels import axis_label, measure_words
from workbench.figures.registry import ANY, on_paper, recipe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_PAIRS = 4
"""Of levers that are drawn, the first of those with a limit."""


class Side(NamedTuple):
    """One axis of a pair."""

    label: str
    places: np.ndarray
    """float64[points], the value of a number, the place of a category; NaN where a point has no such lever."""
    low: float
    """The ends of the box; infinite where there is no limit."""
    high: float
    categories: tuple[str, ...]
    """Empty of a number."""
    is_log: bool
    few: bool
    """Whether so few values are drawn that points on them are spread a little, to be seen."""


class ScenarioDiscovery(NamedTuple):
    """Where in the space of its levers a policy loses: coverage against density of the peeled boxes, and the box."""

    title: str
    noun: str
    """What a point of interest is called."""
    coverage: np.ndarray
    """float64[boxes], and density and number of levers with a limit, of every peeled box."""
    density: np.ndarray
    restricted: np.ndarray
    chosen: tuple[float, float]
    """Coverage and density of the box; not a number where there is none."""
    rate: float
    """The share of all points that is of interest."""
    pairs: tuple[tuple[Side, Side], ...]
    hit: np.ndarray
    """bool[points]"""
    inside: np.ndarray
    """bool[points]"""
    note: str

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table: a row a peeled box, then a row a point and pair of levers."""
        boxes, points = len(self.coverage), len(self.hit) * len(self.pairs)
        blank = [""] * boxes

        def each(of: np.ndarray) -> list[str]:
            return blank + [str(bool(one)).lower() for _ in self.pairs for one in of]

        return {
            "part": ["trajectory"] * boxes + ["point"] * points,
            "x": ["coverage"] * boxes + [x.label for x, _ in self.pairs for _ in self.hit],
            "x_value": np.concatenate([self.coverage, *(x.places for x, _ in self.pairs)]),
            "y": ["density"] * boxes + [y.label for _, y in self.pairs for _ in self.hit],
            "y_value": np.concatenate([self.density, *(y.places for _, y in self.pairs)]),
            "levers_with_a_limit": [*map(str, self.restricted), *([""] * points)],
            "of_interest": each(self.hit),
            "inside": each(self.inside),
        }


def scenario_discovery_data(
    runs: Results,
    measure: str | None = None,
    win: bool = False,
    clear: bool = False,
    above: float | None = None,
    below: float | None = None,
    policy: str | None = None,
    box: int = 1,
    density: float | None = None,
) -> ScenarioDiscovery:
    """Compute the box of levers that holds most losses of a policy and little else (`workbench explain discover`).

    Parameters
    ----------
    measure : str, optional
        Any measure of the engine; the first that the sweep names if None.
    win, clear, above, below, density
        As of `workbench.discover`.
    policy : str, optional
        Which policy; the first that has a box if None.
    box : int
        Which box of it, each among the points outside of those before.

    Raises
    ------
    InputError
        There are too few points, nothing to lose against, or no such policy or box.
    """
    every = discover(runs, measure, interest_of(win, clear, above, below), box, density).scenarios
    names = list(dict.fromkeys(one.cases.policy for one in every))
    if policy is not None and policy not in names:
        raise unknown_name("", "policy", policy, names)
    chosen = [one for one in every if one.number == box and policy in (None, one.cases.policy)]
    if not chosen:
        raise InputError(f"there is no box {box}{f' of {policy}' if policy else ''}; the search ended before.")
    return box_figure_data(runs, next((one for one in chosen if one.is_box), chosen[0]))


def box_figure_data(runs: Results, one: Scenario) -> ScenarioDiscovery:
    """Compute what is drawn of one box."""
    cases, box = one.cases, one.box
    setup = next(point.setup for point in runs.points if point.id == cases.points[0])
    sides = [_side(lever, inside, axis_label(lever.path, setup)) for lever, inside in zip(cases.columns, box.inside)]
    steps = one.trajectory
    what = measure_words(cases.measure)
    interest = f"{points_word(cases.interest)} in {what}" if cases.interest.is_compared else _beyond(what, one)
    rate = f"{100 * box.all_hits / box.points:.0f} % of {box.points} points are"
    return ScenarioDiscovery(
        cases.policy,
        points_word(cases.interest),
        np.array([step.coverage for step in steps]),
        np.array([step.density for step in steps]),
        np.array([len(step.restricted) for step in steps]),
        (box.coverage, box.density) if one.is_box else (np.nan, np.nan),
        box.all_hits / box.points,
        _pairs(one, sides),
        cases.hit,
        inside_of(one) & one.is_box,
        f"{interest}: {rate}\n{_outcome(one)}",
    )


def _beyond(what: str, one: Scenario) -> str:
    unit = f" {one.cases.measure.unit}" if one.cases.measure.unit else ""
    return f"{what} {one.cases.interest.kind} {one.cases.interest.threshold:g}{unit}"


def _outcome(one: Scenario) -> str:
    from workbench.number_text import probability

    p = f"p {probability(one.p_adjusted)} of all searches among shuffled labels"
    if not one.is_box:
        return f"no box is better than that; {p}"
    name, box, limits = points_word(one.cases.interest), one.box, box_condition(one)
    return f"box: {limits}\n{100 * box.coverage:.0f} % of the {name}, {100 * box.density:.0f} % of it {name}; {p}"


def _pairs(one: Scenario, sides: list[Side]) -> tuple[tuple[Side, Side], ...]:
    """Return the pairs of levers with a limit; of a single one, itself with the next; of none, the first two."""
    restricted = list(one.box.restricted)
    others = [k for k in range(len(sides)) if k not in restricted]
    chosen = (restricted + others)[: max(2, len(restricted))]
    pairs = list(itertools.combinations(chosen, 2)) or [(chosen[0], chosen[0])]
    return tuple((sides[i], sides[j]) for i, j in pairs[:MOST_PAIRS])


def _side(lever: Lever, inside: np.ndarray, label: str) -> Side:
    from workbench.figures._where_it_holds import is_log

    kept = np.flatnonzero(inside)
    if not lever.is_number:
        names = tuple(map(str, lever.values)) + (("none",) if (lever.codes == len(lever.values)).any() else ())
        ends = (kept[0] - 0.5, kept[-1] + 0.5) if not inside.all() else (-np.inf, np.inf)
        return Side(label, lever.codes.astype(float), float(ends[0]), float(ends[1]), names, False, True)
    values = np.array([*map(float, lever.values), np.nan])
    numbers = np.flatnonzero(inside[:-1])
    low = values[numbers[0]] if numbers[0] > 0 else -np.inf
    high = values[numbers[-1]] if numbers[-1] < len(lever.values) - 1 else np.inf
    logarithmic = is_log(values[:-1])
    return Side(label, values[lever.codes], float(low), float(high), (), logarithmic, len(lever.values) <= 12)


@on_paper
def draw(data: ScenarioDiscovery) -> Figure:
    """Draw the trajectory, darker with each lever that has a limit, and below it the points with the box."""
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(1 + len(data.pairs), [1.5, *([1.7] * len(data.pairs))])
    frame.title(axes[0], data.title)
    _trajectory(axes[0], data)
    for k, (one, (x, y)) in enumerate(zip(axes[1:], data.pairs, strict=True)):
        _points(one, data, x, y)
        one.set_xlabel(x.label)
        frame.name_sides([one], x.label, y.label, data.note if k == len(data.pairs) - 1 else "")
    frame.legend(figure, axes)
    return figure


def _trajectory(axes: Axes, data: ScenarioDiscovery) -> None:
    from workbench.figures import plot_style

    most = max(int(data.restricted.max()), 1)
    axes.plot(data.coverage, data.density, color=plot_style.palette().quiet, linewidth=0.6, zorder=1)
    for count in range(most + 1):
        kept = data.restricted == count
        shade = str(0.85 - 0.7 * count / most)
        name = "no limit" if count == 0 else f"limits on {count}"
        axes.scatter(
            data.coverage[kept],
            data.density[kept],
            s=12,
            color=shade,
            edgecolors=plot_style.palette().ink,
            linewidths=0.3,
        )
        axes.scatter([], [], s=12, color=shade, edgecolors=plot_style.palette().ink, linewidths=0.3, label=name)
    axes.axhline(data.rate, color=plot_style.palette().ink, linewidth=0.6, linestyle=(0, (4, 3)), label="all points")
    if np.isfinite(data.chosen[0]):
        axes.scatter(
            *data.chosen,
            s=60,
            marker="*",
            color=plot_style.palette().worse,
            edgecolors=plot_style.palette().ink,
            linewidths=0.4,
            zorder=3,
        )
        axes.scatter(
            [],
            [],
            s=45,
            marker="*",
            color=plot_style.palette().worse,
            edgecolors=plot_style.palette().ink,
            linewidths=0.4,
            label="the box",
        )
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.05), xlabel=f"coverage: share of the {data.noun} inside")
    axes.set_ylabel(f"density: share\nthat are {data.noun}")


def _points(axes: Axes, data: ScenarioDiscovery, x: Side, y: Side) -> None:
    from workbench.figures import plot_style

    across, up = _spread(x, 0), _spread(y, 1)
    looks = (
        (~data.hit, "o", 7, plot_style.palette().paper, plot_style.palette().quiet, "other points", 1),
        (data.hit, "X", 13, plot_style.palette().worse, plot_style.palette().paper, data.noun, 2),
    )
    for kept, shape, size, face, edge, name, order in looks:
        style: dict[str, Any] = {"s": size, "marker": shape, "c": face, "edgecolors": edge, "linewidths": 0.5}
        axes.scatter(across[kept], up[kept], label=name, zorder=order, **style)
    for side, scale, axis in ((x, axes.set_xscale, axes.xaxis), (y, axes.set_yscale, axes.yaxis)):
        if side.is_log:
            scale("log")
            values = np.unique(side.places[np.isfinite(side.places)])
            if len(values) <= 12:
                axis.set_ticks(values, [f"{value:g}" for value in values])
            axis.minorticks_off()
        if side.categories:
            axis.set_ticks(range(len(side.categories)), [tick_words(name) for name in side.categories])
    _box(axes, data, x, y)


def tick_words(name: str) -> str:
    """Return a category as an axis shows it, short enough for a tick."""
    from workbench.figures import frame

    return frame.words(name if len(name) <= 24 else f"{name[:22]}...")


def _box(axes: Axes, data: ScenarioDiscovery, x: Side, y: Side) -> None:
    """Draw the box between its limits, open sides to the edge of the panel."""
    from matplotlib.patches import Rectangle

    from workbench.figures import plot_style

    if not np.isfinite(data.chosen[0]):
        return
    left, right = np.clip((x.low, x.high), *axes.get_xlim())
    low, high = np.clip((y.low, y.high), *axes.get_ylim())
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    inside: dict[str, Any] = {"facecolor": plot_style.palette().worse, "alpha": 0.12, "edgecolor": "none", "zorder": 0}
    axes.add_patch(Rectangle((left, low), right - left, high - low, **inside))
    edge: dict[str, Any] = {"facecolor": "none", "edgecolor": plot_style.palette().ink, "linewidth": 1.0, "zorder": 3}
    axes.add_patch(Rectangle((left, low), right - left, high - low, **edge))


def _spread(side: Side, axis: int) -> np.ndarray:
    """Return the places at which points are drawn: on few values a little next to them, evenly and the same every
    time."""
    from scipy.stats.qmc import Halton

    if not side.few:
        return side.places
    shares = Halton(2, scramble=False).random(1 + len(side.places))[1:, axis] - 0.5
    if side.is_log:
        return np.asarray(side.places * np.exp(0.12 * shares))
    values = np.unique(side.places[np.isfinite(side.places)])
    gap = float(np.diff(values).min()) if len(values) > 1 else 1.0
    return np.asarray(side.places + 0.5 * gap * shares)


SCENARIO_DISCOVERY_FIGURE = recipe(ANY, scenario_discovery_data, draw)
