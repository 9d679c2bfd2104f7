"""The coolest, the mean and the hottest module over time (spec 3, H3.15)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import heading, one_run_each
from workbench.figures.registry import on_paper, recipe
from workbench.figures.run_curves import WITHOUT_POWER
from workbench.metrics.dispatch_modules import has_heat, has_power, temperatures

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    """The coolest and the hottest module, and the mean of all, over time: one run of every policy."""

    seed: int
    panels: tuple[Warmth, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a panel and cycle."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.name,
                "seed": self.seed,
                "time_cycles": panel.cycle,
                **{f"{name}_degrees_c": getattr(panel, name) for name in ("coolest", "mean", "hottest")},
            }
            for panel in self.panels
        )


def temperature_over_time_data(runs: Results, seed: int | None = None) -> TemperatureOverTime:
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
    chosen, kept = one_run_each(runs, seed, "temperature_over_time")
    return TemperatureOverTime(chosen, tuple(_warmth(*one) for one in kept))


def _warmth(setting: str, name: str, record: Any) -> Warmth:
    if not has_power(record):
        raise InputError(f"temperature_over_time needs {WITHOUT_POWER.format(name)}")
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
    from workbench.figures import frame, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 1.75 if len(data.panels) == 1 else 1.1, share_x=True)
    low = min(float(panel.coolest.min()) for panel in data.panels)
    high = max(float(panel.hottest.max()) for panel in data.panels)
    for one, panel in zip(axes, data.panels, strict=True):
        one.fill_between(
            panel.cycle, panel.coolest, panel.hottest, color=plot_style.palette().worse, alpha=0.45, linewidth=0
        )
        one.plot(panel.cycle, panel.mean, color=plot_style.palette().ink)
        frame.title(one, heading(panel.setting, panel.name))
        one.set_xlim(0, max(int(other.cycle[-1]) for other in data.panels) or 1)
        one.set_ylim(low, high + 0.05 * (high - low) + 1e-9)
    note = f"seed {data.seed}; mean of the modules, from the coolest to the hottest"
    frame.name_sides(axes, "time (cycles)", "temperature (°C)", note)
    return figure


TEMPERATURE_OVER_TIME_FIGURE = recipe("dispatch", temperature_over_time_data, draw_temperature_over_time)
