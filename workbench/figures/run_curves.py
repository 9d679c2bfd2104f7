"""Exact curves of whole runs: a figure is a row here.

Over time: workgroups left in the queue and free segments (figures 12 and 13 of the source of spec 1, R33a, R33b). Then
granted bytes of a heap (H2.10 of spec 2), and messages a cycle between cores (H4.8 of spec 4). Over the segments:
grants (H1.5, H1.6). Over the modules: power (spec 3, H3.14, H3.15). Over the dispatches: the spread of a module's units
(R68, H3.13). Over the number of holders: pages (spec 4, R23, E5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import mean_curve
from workbench.figures.panels import drawn_panels, records
from workbench.figures.registry import Recipe
from workbench.metrics.dispatch_modules import has_power, module_power, spread_after
from workbench.metrics.malloc import held_over_time
from workbench.metrics.shared_memory import free_over_time, grants_by_segment, queue_over_time
from workbench.metrics.statistics import Steps
from workbench.metrics.translation import counted_over_time, pages_by_degree
from workbench.records.malloc import MallocRecord
from workbench.records.shared_memory import drain_cycle
from workbench.records.translation import TranslationRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PLACES = 600
"""Cycles on the grid: more than a column of a paper has dots of print."""
SLICES = 300
"""Slices of the time, at most, in which messages are counted."""
MOST_DOTS = 32
"""Modules; more dots touch."""
A_DOUBLING = 4
"""Places that are drawn from a number of dispatches to twice as many."""
_TICKS = [digit * 10**power for power in range(12) for digit in (1, 3)]
Sampled = Iterable[tuple[np.ndarray, np.ndarray] | None]
"""Of each line the places, and the values [seeds, places]; None where its runs do not have what is drawn."""


def _recipe(
    name: str,
    engine: str,
    description: str,
    x: tuple[str, str],
    y: tuple[str, str],
    sample: Callable[[list[list[Any]]], Sampled],
    look: Look,
    columns: Sequence[str] = (),
    needs: str = "",
) -> Recipe:
    """Return the figure of curves of whole runs.

    Parameters
    ----------
    x : pair of str
        The column of the places, and the label of the axis.
    y : pair of str
        The unit in the names of columns, and the label of the axis.
    sample : function
        From the records of the lines of a panel to what is drawn of each.
    columns : three str, optional
        The names of the columns of the means and their limits, where they are not made of the unit.
    needs : str
        What to say of a line that has nothing to draw, its name for `{}`; where the look says why lines are left out,
        only of the first if all are.
    """

    def data(runs: Results) -> Curves:
        panels = drawn_panels(runs, name)
        lines, without = list[Curve](), list[str]()
        for place, panel in enumerate(panels):
            kept = [records(runs, line.point, name) for line in panel.lines]
            for line, each, sampled in zip(panel.lines, kept, sample(kept), strict=True):
                if sampled is not None:
                    means = mean_curve(sampled[1])
                    lines.append(Curve(place, line.name, line.style, len(each), sampled[0], means))
                elif look.left_out:
                    without.append(line.name)
                else:
                    raise InputError(f"{name} needs {needs.format(line.name)}")
        if not lines:
            raise InputError(f"{name} needs {needs.format(without[0])}")
        names = tuple(columns) or tuple(f"{part}_{y[0]}" for part in ("mean", "low", "high"))
        titles = tuple(panel.title for panel in panels)
        return Curves(*x, names, y[1], titles, tuple(lines), look, tuple(dict.fromkeys(without)))

    return Recipe(name, engine, description, data, draw_curves)


def _line_by_line(
    values: Callable[[Any], np.ndarray], first: int = 0, has: Callable[[Any], bool] = lambda _: True
) -> Callable[[list[list[Any]]], Sampled]:
    """Return a sampler of values at consecutive whole numbers; those that have none are told by their first record."""

    def sample(kept: list[list[Any]]) -> Sampled:
        for each in kept:
            curves = np.stack([*map(values, each)]) if has(each[0]) else None
            yield None if curves is None else (first + np.arange(curves.shape[1]), curves)

    return sample


def _on_a_grid(
    steps_of: Callable[[Any], Steps], end_of: Callable[[Any], int] = drain_cycle
) -> Callable[[list[list[Any]]], Sampled]:
    """Return a sampler of steps on one grid a panel: a run that is over stays at its last value (an empty queue, a free
    memory) until the panel's slowest run ends."""

    def sample(kept: list[list[Any]]) -> Sampled:
        last = max(end_of(record) for each in kept for record in each)
        grid = np.unique(np.linspace(0, last, PLACES).round().astype(np.int64))
        return [(grid, np.stack([steps_of(record).at(grid) for record in each])) for each in kept]

    return sample


def _from_zero(axes: Axes, lines: list[Curve], data: Curves) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, max([1, *(int(line.x[-1]) for line in lines)]))


_OVER_TIME = Look(panel=_from_zero, counted=True)
_TIME = ("time_cycles", "time (cycles)")

REMAINING_OVER_TIME_FIGURE = _recipe(
    "remaining_over_time",
    "shared_memory",
    "Workgroups left in the queue over time, mean over the seeds with its 95 % interval.",
    _TIME,
    ("workgroups", "workgroups left in the queue"),
    _on_a_grid(queue_over_time),
    _OVER_TIME,
)

FREE_OVER_TIME_FIGURE = _recipe(
    "free_over_time",
    "shared_memory",
    "Free segments over time, mean over the seeds with its 95 % interval.",
    _TIME,
    ("segments", "free segments"),
    _on_a_grid(free_over_time),
    _OVER_TIME,
)


def last_change(record: MallocRecord) -> int:
    """Return the last cycle at which something was granted or came back."""
    return int(max(record.granted.max(initial=0), record.returned.max(initial=0)))


HELD_OVER_TIME_FIGURE = _recipe(
    "held_over_time",
    "malloc",
    "Bytes that the heap has granted, over time, mean over the seeds with its 95 % interval.",
    _TIME,
    ("bytes", "granted (bytes)"),
    _on_a_grid(held_over_time, last_change),
    _OVER_TIME,
)


def _load(kept: list[list[TranslationRecord]]) -> Sampled:
    """Return the starts of equal slices of the time, and the messages a cycle in each; a run that is over sends nothing
    until the panel's slowest run ends."""
    last = max(1, *(record.last_cycle for each in kept for record in each))
    edges = np.unique(np.linspace(0, last, SLICES + 1).round().astype(np.int64))
    return [(edges[:-1], np.stack([load_between(record, edges) for record in each])) for each in kept]


def load_between(record: TranslationRecord, edges: np.ndarray) -> np.ndarray:
    """Compute the messages a cycle between neighboring edges, those of a window spread evenly over it: float64[edges -
    1]."""
    ends = record.first_cycle + record.window_cycles * np.arange(len(record.over_time) + 1)
    upto = np.interp(edges, ends, np.r_[0, np.cumsum(counted_over_time(record, "messages"))])
    return np.asarray(np.diff(upto) / np.diff(edges))


def _of_load(axes: Axes, lines: list[Curve], data: Curves) -> None:
    from workbench.figures import frame

    _from_zero(axes, lines, data)
    if not any(line.means.mean.any() for line in lines):
        frame.say_instead(axes, "no messages between cores")


NETWORK_LOAD_FIGURE = _recipe(
    "network_load",
    "translation",
    "Messages between cores a cycle over the time of the run, by policy, with intervals.",
    _TIME,
    ("messages_per_cycle", "messages a cycle"),
    _load,
    Look(panel=_of_load),
)


def pages_percent(record: TranslationRecord) -> np.ndarray:
    """Return the pages that 1, 2, ... private TLBs hold, in percent of those held, over the samples of a run."""
    pages = pages_by_degree(record)[1:]
    return np.asarray(100 * pages / max(int(pages.sum()), 1))


def _of_whole_numbers(axes: Axes, lines: list[Curve], data: Curves) -> None:
    from workbench.figures import frame

    axes.set_ylim(bottom=0)
    frame.whole_numbers(axes.xaxis, 8)


SHARING_DEGREES_FIGURE = _recipe(
    "sharing_degrees",
    "translation",
    "How many cores hold the same page: pages by the number of their holders, by policy, with intervals.",
    ("holders", "cores that hold the page"),
    ("percent", "pages held (%)"),
    _line_by_line(pages_percent, first=1),
    Look(dots=math.inf, panel=_of_whole_numbers),
)


def _relative(record: Any) -> np.ndarray:
    """Return the grants a segment over the mean of all segments."""
    wear = grants_by_segment(record)
    return wear / max(wear.mean(), 1e-300)


def _of_wear(axes: Axes, lines: list[Curve], data: Curves) -> None:
    from workbench.figures import plot_style

    axes.axhline(1, color=plot_style.palette().quiet, linewidth=0.6, zorder=0)
    _from_zero(axes, lines, data)


WEAR_BY_SEGMENT_FIGURE = _recipe(
    "wear_by_segment",
    "shared_memory",
    "How often each segment is granted, over the mean of the memory.",
    ("segment", "segment"),
    ("", "grants / mean"),
    _line_by_line(_relative, has=lambda record: bool(record.addressed and record.layout != "scattered")),
    Look(heights=(1.75, 1.2), panel=_of_wear, left_out="no ranges"),
    ("grants_over_mean", "low", "high"),
    needs="grants that are ranges of segments; {} has none.",
)

WITHOUT_POWER = "power, which {} does not simulate. Say options: {{power: class_power}}."


def _of_modules(axes: Axes, lines: list[Curve], data: Curves) -> None:
    _of_whole_numbers(axes, lines, data)
    axes.set_xlim(-0.5, max(len(line.x) for line in lines) - 0.5)


POWER_OVER_MODULES_FIGURE = _recipe(
    "power_over_modules",
    "dispatch",
    "The power of each module, averaged over the run, by policy, with intervals.",
    ("module", "module"),
    ("watts", "power (W)"),
    _line_by_line(module_power, has=has_power),
    Look(heights=(1.75, 1.2), dots=MOST_DOTS, panel=_of_modules),
    needs=WITHOUT_POWER,
)


def _spreads(kept: list[list[Any]]) -> Sampled:
    """Return numbers of dispatches to a module, and the most less the fewest waves that a unit was given by then, on
    average over the modules; up to where the module with the fewest dispatches ends, in the first run in which one
    does."""
    for each in kept:
        spreads = [*map(spread_after, each)]
        rounds = places(min(map(len, spreads)))
        yield (rounds, np.stack([one[rounds - 1] for one in spreads])) if len(rounds) else None


def places(most: int) -> np.ndarray:
    """Return numbers of dispatches, at equal distances on a logarithmic axis, and the last."""
    doublings = np.arange(0, A_DOUBLING * np.log2(max(most, 1)) + 1) / A_DOUBLING
    rounds = np.unique(np.append(np.round(2**doublings).astype(np.int64), most))
    return rounds[(rounds >= 1) & (rounds <= most)]


def _of_spread(axes: Axes, lines: list[Curve], data: Curves) -> None:
    """Set both axes logarithmic, below one wave linear: what is level stays at the foot."""
    from workbench.figures import frame

    top = max(1.5 * max(float(line.means.mean.max()) for line in data.lines), 2)
    axes.set_yscale("symlog", linthresh=1, base=10)
    axes.set_ylim(0, top)
    axes.set_yticks([0, *(tick for tick in _TICKS if tick <= top)], minor=False)
    axes.yaxis.minorticks_off()
    axes.set_xscale("log", base=2)
    axes.set_xlim(1, max(2, *(int(line.x[-1]) for line in data.lines)))
    frame.plain_numbers(axes)


UNIT_SPREAD_OVER_ROUNDS_FIGURE = _recipe(
    "unit_spread_over_rounds",
    "dispatch",
    "How far apart the units of a module are in waves given, after so many dispatches, by policy.",
    ("dispatches_to_a_module", "dispatches to a module"),
    ("spread_waves", "spread over its units (waves)"),
    _spreads,
    Look(heights=(1.75, 1.3), share_x=True, panel=_of_spread),
    needs="dispatches to every module; with {} one had none.",
)
