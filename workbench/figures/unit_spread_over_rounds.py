"""Do the units of a module stay level? The spread of their waves after so many dispatches (spec 3, R68, H3.13)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.dispatch_modules import spread_after

if TYPE_CHECKING:
    from matplotlib.figure import Figure

A_DOUBLING = 4
"""Places that are drawn from a number of dispatches to twice as many."""
_TICKS = [digit * 10**power for power in range(12) for digit in (1, 3)]


class Spread(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    rounds: np.ndarray
    """int64[places], dispatches to a module."""
    waves: Means
    """Most less fewest waves that a unit was given, averaged over the modules, then over the seeds."""


class UnitSpread(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Spread, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and number of dispatches."""
        sizes = [len(line.rounds) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "runs": np.repeat([line.n for line in self.lines], sizes),
            "dispatches_to_a_module": np.concatenate([line.rounds for line in self.lines]),
            "mean_spread_waves": np.concatenate([line.waves.mean for line in self.lines]),
            "low_spread_waves": np.concatenate([line.waves.low for line in self.lines]),
            "high_spread_waves": np.concatenate([line.waves.high for line in self.lines]),
        }


def unit_spread_over_rounds_data(runs: RunSet) -> UnitSpread:
    """Compute the spread of the waves that a module's units were given, after its 1st, 2nd, 4th ... dispatch.

    A line ends where the module with the fewest dispatches does, in the run in which that comes first.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, a point has no finished run, or a module no dispatch.
    """
    panels = drawn_panels(runs, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            spreads = [*map(spread_after, records(runs, line.point, FIGURE.name))]
            rounds = places(min(map(len, spreads)))
            if not len(rounds):
                raise InputError(f"{FIGURE.name} needs dispatches to every module; with {line.name} one had none.")
            spread = mean_curve(np.stack([one[rounds - 1] for one in spreads]), level_of(runs))
            lines.append(Spread(place, line.name, line.style, len(spreads), rounds, spread))
    return UnitSpread(tuple(panel.title for panel in panels), tuple(lines))


def places(most: int) -> np.ndarray:
    """Return numbers of dispatches, at equal distances on a logarithmic axis, and the last."""
    doublings = np.arange(0, A_DOUBLING * np.log2(max(most, 1)) + 1) / A_DOUBLING
    rounds = np.unique(np.append(np.round(2**doublings).astype(np.int64), most))
    return rounds[(rounds >= 1) & (rounds <= most)]


@on_paper
def draw(data: UnitSpread) -> Figure:
    """Draw both axes logarithmic, below one wave linear: what is level stays at the foot."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.3, share_x=True)
    for line in data.lines:
        marks.step_line(axes[line.panel], line.rounds, line.waves, line.style, line.name)
    most = max(float(line.waves.mean.max()) for line in data.lines)
    for one, title in zip(axes, data.titles, strict=True):
        frame.title(one, title)
        one.set_yscale("symlog", linthresh=1, base=10)
        one.set_ylim(0, max(1.5 * most, 2))
        one.set_yticks([0, *(tick for tick in _TICKS if tick <= max(1.5 * most, 2))], minor=False)
        one.yaxis.minorticks_off()
        one.set_xscale("log", base=2)
        one.set_xlim(1, max(2, *(int(line.rounds[-1]) for line in data.lines)))
        frame.plain_numbers(one)
    note = rests_on((line.n for line in data.lines), pointwise=True)
    frame.name_sides(axes, "dispatches to a module", "spread over its units (waves)", note)
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "unit_spread_over_rounds",
    "dispatch",
    "How far apart the units of a module are in waves given, after so many dispatches, by policy.",
    unit_spread_over_rounds_data,
    draw,
)
