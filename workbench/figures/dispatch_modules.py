"""The modules of a dispatcher: their power, their temperatures, and whether their units stay level.

Power is averaged over the run (spec 3, H3.14 and H3.15); of temperatures the coolest, the mean and the hottest module
are drawn over time (H3.15); the spread is that of the waves of a module's units after so many dispatches (R68, H3.13).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.row import run_id
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import Means, level_of, mean_curve, rests_on
from workbench.figures.panels import common_seed, drawn_panels, lines_apart, records
from workbench.figures.registry import Column, Recipe, on_paper
from workbench.metrics.dispatch_modules import has_heat, has_power, module_power, spread_after, temperatures

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
    panels = drawn_panels(runs, POWER_OVER_MODULES_FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            kept = records(runs, line.point, POWER_OVER_MODULES_FIGURE.name)
            if not has_power(kept[0]):
                raise without_power(POWER_OVER_MODULES_FIGURE.name, line.name)
            power = mean_curve(np.stack([*map(module_power, kept)]), level_of(runs))
            lines.append(ModulePower(place, line.name, line.style, len(kept), power))
    return PowerOverModules(tuple(panel.title for panel in panels), tuple(lines))


def without_power(figure: str, name: str) -> InputError:
    """Say that a run has no power to show."""
    return InputError(f"{figure} needs power, which {name} does not simulate. Say options: {{power: class_power}}.")


@on_paper
def draw_power_over_modules(data: PowerOverModules) -> Figure:
    """Draw a dot with its interval a module; where there are many modules, a step."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.2)
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


POWER_OVER_MODULES_FIGURE = Recipe(
    "power_over_modules",
    "dispatch",
    "The power of each module, averaged over the run, by policy, with intervals.",
    power_over_modules_data,
    draw_power_over_modules,
)

PLACES = 600
"""Steps that are drawn: more than a column of a paper has dots of print."""


class Warmth(NamedTuple):
    """One panel."""

    setting: str
    name: str
    cycle: np.ndarray
    """int64[places], the ends of the steps that are drawn, from cycle 0 on."""
    coolest: np.ndarray
    mean: np.ndarray
    hottest: np.ndarray
    """float64[places], degrees Celsius."""


class TemperatureOverTime(NamedTuple):
    """What is drawn."""

    seed: int
    panels: tuple[Warmth, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a panel and cycle."""
        sizes = [len(panel.cycle) for panel in self.panels]
        numbers = {
            f"{name}_degrees_c": np.concatenate([getattr(panel, name) for panel in self.panels])
            for name in ("coolest", "mean", "hottest")
        }
        return {
            "setting": np.repeat([panel.setting for panel in self.panels], sizes),
            "policy": np.repeat([panel.name for panel in self.panels], sizes),
            "seed": np.full(sum(sizes), self.seed),
            "time_cycles": np.concatenate([panel.cycle for panel in self.panels]),
            **numbers,
        }


def temperature_over_time_data(runs: RunSet, seed: int | None = None) -> TemperatureOverTime:
    """Compute the coolest and the hottest module, and the mean of all, at the ends of thermal steps of one run of every
    point.

    Parameters
    ----------
    seed : int, optional
        Which run; the first seed that every point finished if None.

    Raises
    ------
    InputError
        No seed was finished by all points, there are too many points, or heat was not simulated.
    """
    lines = lines_apart(runs, TEMPERATURE_OVER_TIME_FIGURE.name)
    chosen = common_seed(runs, seed, TEMPERATURE_OVER_TIME_FIGURE.name)
    curves = [_warmth(s, line.name, runs.record(run_id(line.point.id, chosen))) for s, line in lines]
    return TemperatureOverTime(chosen, tuple(curves))


def _warmth(setting: str, name: str, record: Any) -> Warmth:
    if not has_power(record):
        raise without_power(TEMPERATURE_OVER_TIME_FIGURE.name, name)
    if not has_heat(record):
        raise InputError(
            f"temperature_over_time needs heat, which {name} does not simulate. Say options: {{heat: rc_heat}}."
        )
    parts = [np.stack([heat.min(axis=1), heat.mean(axis=1), heat.max(axis=1)]) for heat in temperatures(record)]
    whole = np.concatenate([np.zeros((3, 1)), *parts], axis=1) + record.heat.ambient()
    kept = np.unique(np.linspace(0, whole.shape[1] - 1, PLACES).round().astype(np.int64))
    return Warmth(setting, name, kept * record.heat.cycles(), *whole[:, kept])


@on_paper
def draw_temperature_over_time(data: TemperatureOverTime) -> Figure:
    """Draw a band from the coolest to the hottest module with the mean in it; all panels have the same axes."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.75 if len(data.panels) == 1 else 1.1, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        one.fill_between(panel.cycle, panel.coolest, panel.hottest, color=marks.BAD, alpha=0.45, linewidth=0)
        one.plot(panel.cycle, panel.mean, color=marks.INK)
        frame.title(one, ": ".join(part for part in (panel.setting, panel.name) if part))
        one.set_xlim(0, max(int(other.cycle[-1]) for other in data.panels) or 1)
        one.set_ylim(*_limits(data))
    note = f"seed {data.seed}; mean of the modules, from the coolest to the hottest"
    frame.name_sides(axes, "time (cycles)", "temperature (°C)", note)
    return figure


def _limits(data: TemperatureOverTime) -> tuple[float, float]:
    low = min(float(panel.coolest.min()) for panel in data.panels)
    high = max(float(panel.hottest.max()) for panel in data.panels)
    return low, high + 0.05 * (high - low) + 1e-9


TEMPERATURE_OVER_TIME_FIGURE = Recipe(
    "temperature_over_time",
    "dispatch",
    "The coolest and the hottest module, and the mean of all, over time: one run of every policy.",
    temperature_over_time_data,
    draw_temperature_over_time,
)

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
    panels = drawn_panels(runs, UNIT_SPREAD_OVER_ROUNDS_FIGURE.name)
    lines = []
    for place, panel in enumerate(panels):
        for line in panel.lines:
            spreads = [*map(spread_after, records(runs, line.point, UNIT_SPREAD_OVER_ROUNDS_FIGURE.name))]
            rounds = places(min(map(len, spreads)))
            if not len(rounds):
                raise InputError(
                    f"unit_spread_over_rounds needs dispatches to every module; with {line.name} one had none."
                )
            spread = mean_curve(np.stack([one[rounds - 1] for one in spreads]), level_of(runs))
            lines.append(Spread(place, line.name, line.style, len(spreads), rounds, spread))
    return UnitSpread(tuple(panel.title for panel in panels), tuple(lines))


def places(most: int) -> np.ndarray:
    """Return numbers of dispatches, at equal distances on a logarithmic axis, and the last."""
    doublings = np.arange(0, A_DOUBLING * np.log2(max(most, 1)) + 1) / A_DOUBLING
    rounds = np.unique(np.append(np.round(2**doublings).astype(np.int64), most))
    return rounds[(rounds >= 1) & (rounds <= most)]


@on_paper
def draw_unit_spread_over_rounds(data: UnitSpread) -> Figure:
    """Draw both axes logarithmic, below one wave linear: what is level stays at the foot."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.titles), 1.75 if len(data.titles) == 1 else 1.3, share_x=True)
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


UNIT_SPREAD_OVER_ROUNDS_FIGURE = Recipe(
    "unit_spread_over_rounds",
    "dispatch",
    "How far apart the units of a module are in waves given, after so many dispatches, by policy.",
    unit_spread_over_rounds_data,
    draw_unit_spread_over_rounds,
)
