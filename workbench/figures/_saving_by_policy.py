"""How much better each policy is than its baseline, in one picture, sorted by effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.run_set import RunSet
from workbench.figures.estimates import (
    Compared,
    Means,
    chosen_measure,
    compared,
    gain_label,
    gain_of,
    means_of,
    rests_on,
)
from workbench.figures.figure_files import Column, below
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.number_text import to_decimals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_INCHES = 6.0
"""Panels that would be higher become a heat map."""
MOST_SETTINGS = 24
"""Columns of a heat map."""


class Savings(NamedTuple):
    """One panel: the policies of a setting, largest saving first."""

    setting: str
    names: tuple[str, ...]
    gain: Means
    """One a policy: the speed-up in per cent, or the mean difference; positive = better."""
    n: np.ndarray
    """int64[policies], paired seeds."""


class SavingByPolicy(NamedTuple):
    """The speed-up of each policy over the baseline, or its mean difference, with intervals, sorted by effect."""

    label: str
    """Of the horizontal axis."""
    unit: str
    """`percent` of speed-ups, or the measure's."""
    panels: tuple[Savings, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a policy and setting."""
        return below(
            {
                "setting": panel.setting,
                "policy": panel.names,
                "seeds": panel.n,
                **panel.gain.columns(*(f"{end}_{self.unit}" for end in ("gain", "low", "high"))),
            }
            for panel in self.panels
        )


def saving_by_policy_data(runs: RunSet, measure: str | None = None) -> SavingByPolicy:
    """Compute the geometric mean of the paired ratios less 1, or the mean difference, with its 95 % interval.

    The measure declares which. Where a value of a ratio measure is 0 there is no ratio, and the figure has differences.

    The measure is any of the engine; if None drain cycles, or the first of the sweep where there is no such.
    Within a setting the largest gain comes first; equal ones stay in the order of the sweep.

    Raises
    ------
    InputError
        No point has a baseline, or there are more settings than a page holds.
    """
    declared = chosen_measure(runs, measure, "drain_cycles")
    comparisons = compared(runs, declared, "saving_by_policy")
    is_ratio = all(one.paired.is_ratio for one in comparisons)
    settings = list(dict.fromkeys(one.setting for one in comparisons))
    if len(settings) > MOST_SETTINGS:
        raise InputError(
            f"saving_by_policy needs {len(settings)} columns for this sweep; a page holds {MOST_SETTINGS}. "
            "Narrow the sweep with set=."
        )
    label = gain_label(declared, {one.baseline for one in comparisons}, is_ratio)
    unit = "percent" if is_ratio else declared.unit or "value"
    every = tuple(_savings([one for one in comparisons if one.setting == s], is_ratio) for s in settings)
    return SavingByPolicy(label, unit, every)


def _savings(comparisons: list[Compared], is_ratio: bool) -> Savings:
    gains = [gain_of(one.paired, is_ratio) for one in comparisons]
    order = sorted(range(len(gains)), key=lambda k: -gains[k].mean)
    ordered = [comparisons[k] for k in order]
    names = tuple(one.name for one in ordered)
    means = means_of(gains[k] for k in order)
    return Savings(ordered[0].setting, names, means, np.array([one.paired.ended for one in ordered]))


@on_paper
def draw_saving_by_policy(data: SavingByPolicy) -> Figure:
    """Draw dots with intervals, the best on top, hollow where the interval holds zero; many panels as a heat map."""
    from workbench.figures import frame, marks, plot_style

    heights = [0.3 + 0.13 * len(panel.names) for panel in data.panels]
    if sum(heights) > MOST_INCHES:
        return _heat_map(data)
    figure, axes = plot_style.stacked(len(data.panels), heights, share_x=True)
    for one, panel in zip(axes, data.panels, strict=True):
        frame.title(one, panel.setting)
        marks.dots(one, panel.names, panel.gain)
    frame.name_sides(axes, data.label, note=_note(data))
    return figure


def _note(data: SavingByPolicy) -> str:
    estimate = "geometric mean" if data.unit == "percent" else "mean"
    return rests_on((n for panel in data.panels for n in panel.n.tolist()), estimate=estimate)


def _heat_map(data: SavingByPolicy) -> Figure:
    """Draw a row a policy, the best on average on top, and a column a setting; in brackets where the interval holds
    zero."""
    from workbench.figures import frame, marks, plot_style

    names, saving, sure = _matrix(data)
    settings = [panel.setting for panel in data.panels]
    figure, (axes,) = plot_style.stacked(1, 0.9 + 0.16 * len(names))

    def cell_text(row: int, column: int, value: float) -> str:
        text = to_decimals(value, 1)
        return text if sure[row, column] else f"({text})"

    tints = marks.heat(axes, saving, cell_text, about_zero=True)
    axes.set_yticks(range(len(names)), [frame.words(name) for name in names])
    axes.set_xticks(range(len(settings)), [frame.words(one) for one in settings], rotation=35, ha="right")
    frame.colour_bar([axes], tints, data.label)
    frame.name_foot(figure, f"{_note(data).split(' with')[0]}; in brackets: the 95 % interval holds zero")
    return figure


def _matrix(data: SavingByPolicy) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return the policies, best mean first, their gains and whether each is clear of zero: [policies, settings]."""
    names = list(dict.fromkeys(name for panel in data.panels for name in panel.names))
    saving, sure = np.full((len(names), len(data.panels)), np.nan), np.zeros((len(names), len(data.panels)), bool)
    for column, panel in enumerate(data.panels):
        rows = [names.index(name) for name in panel.names]
        saving[rows, column] = panel.gain.mean
        sure[rows, column] = (panel.gain.low > 0) | (panel.gain.high < 0)
    order = np.argsort(-np.nanmean(saving, axis=1), kind="stable")
    return [names[k] for k in order], saving[order], sure[order]


SAVING_BY_POLICY_FIGURE = recipe(ANY, saving_by_policy_data, draw_saving_by_policy)
