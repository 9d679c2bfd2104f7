"""Which modules work hardest? The power of each module, averaged over the run (spec 3, H3.14 and H3.15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.finished import records
from workbench.figures.means import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import drawn_panels
from workbench.figures.recipe import Column, Recipe, on_paper
from workbench.metrics.dispatch_modules import has_power, module_power

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_DOTS = 32
"""Modules; more dots touch."""


class ModulePower(NamedTuple):
    """One line."""

    panel: int
    name: str
    style: int
    n: int
    """Seeds that it is the mean of."""
    watts: Means
    """One value a module, averaged over the seeds."""


class PowerOverModules(NamedTuple):
    """What is drawn."""

    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[ModulePower, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and module."""
        sizes = [len(line.watts.mean) for line in self.lines]
        return {
            "setting": np.repeat([self.titles[line.panel] for line in self.lines], sizes),
            "line": np.repeat([line.name for line in self.lines], sizes),
            "runs": np.repeat([line.n for line in self.lines], sizes),
            "module": np.concatenate([np.arange(size) for size in sizes]),
            "mean_watts": np.concatenate([line.watts.mean for line in self.lines]),
            "low_watts": np.concatenate([line.watts.low for line in self.lines]),
            "high_watts": np.concatenate([line.watts.high for line in self.lines]),
        }


def power_over_modules_data(runs: RunSet) -> PowerOverModules:
    """Compute the power of each module from cycle 0 to the last release, averaged over the seeds with the 95 %
    interval.

    Raises
    ------
    InputError
        There are more panels or lines than can be drawn, a point has no finished run, or power was not simulated.
    """
    panels = drawn_panels(runs, FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, FIGURE.name)
            if not has_power(kept[0]):
                raise without_power(FIGURE.name, line.name)
            power = mean_curve(np.stack([*map(module_power, kept)]), level_of(runs))
            lines.append(ModulePower(place, line.name, line.style, len(kept), power))
    return PowerOverModules(tuple(panel.title for panel in panels), tuple(lines))


def without_power(figure: str, name: str) -> InputError:
    """Say that a run has no power to show."""
    return InputError(f"{figure} needs power, which {name} does not simulate. Say options: {{power: class_power}}.")


@on_paper
def draw(data: PowerOverModules) -> Figure:
    """Draw a dot with its interval a module; where there are many modules, a step."""
    from workbench.figures import frame, ink, marks

    figure, axes = ink.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.2)
    for line in data.lines:
        modules = np.arange(len(line.watts.mean))
        mark = marks.interval_line if len(modules) <= MOST_DOTS else marks.step_line
        mark(axes[line.panel], modules, line.watts, line.style, line.name)
    for place, (one, title) in enumerate(zip(axes, data.titles, strict=True)):
        frame.title(one, title)
        one.set_ylim(bottom=0)
        frame.whole_numbers(one.xaxis, 8)
        one.set_xlim(-0.5, max(len(line.watts.mean) for line in data.lines if line.panel == place) - 0.5)
    frame.name_sides(axes, "module", "power (W)", rests_on((line.n for line in data.lines), pointwise=True))
    frame.legend(figure, axes)
    return figure


FIGURE = Recipe(
    "power_over_modules",
    "dispatch",
    "The power of each module, averaged over the run, by policy, with intervals.",
    power_over_modules_data,
    draw,
)
