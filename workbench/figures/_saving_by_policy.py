"""How much better each policy is than its baseline, in one picture, sorted by effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
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
from workbench.figures.panels import heading
from workbench.figures.registry import ANY, on_paper, recipe
from workbench.number_text import to_decimals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


MOST_INCHES = 6.0
"""Panels that would be higher become a heat map."""
MOST_SETTINGS = 24
"""Columns of a heat map."""
FAR_APART = 20
"""Effects that differ by such a factor have axes of their own: on one axis the small ones would all look like zero."""


class Savings(NamedTuple):
    """One panel: the policies of a setting, largest saving first."""

    setting: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    """One a policy: `shipped`, `own` or `upper bound`."""
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
                "kind": panel.kinds,
                "seeds": panel.n,
                **panel.gain.columns(*(f"{end}_{self.unit}" for end in ("gain", "low", "high"))),
            }
            for panel in self.panels
        )


def saving_by_policy_data(runs: Results, measure: str | None = None) -> SavingByPolicy:
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
    kinds = tuple(one.kind for one in ordered)
    return Savings(ordered[0].setting, names, kinds, means, np.array([one.paired.ended for one in ordered]))


@on_paper
def draw_saving_by_policy(data: SavingByPolicy) -> Figure:
    """Draw dots with intervals, the best on top, hollow where the interval holds zero; many panels as a heat map.

    The user's own rules are stars with bold names, an upper bound is a hatched bar. Effects that are far apart have
    axes of their own, the larger ones above.
    """
    from workbench.figures import frame, marks, plot_style

    drawn = _parts(data.panels)
    scales = {scale for scale, _ in drawn}
    own_axis = 0.2 if len(scales) > 1 else 0.0
    lines = marks.lines_of_names([name for _, part in drawn for name in part.names])
    row = 0.13 if lines == 1 else 0.13 * lines + 0.05
    heights = [0.3 + own_axis + row * len(part.names) for _, part in drawn]
    if sum(heights) > MOST_INCHES:
        return _heat_map(data)
    figure, axes = plot_style.stacked(len(drawn), heights, share_x=len(scales) == 1)
    for one, (_, part) in zip(axes, drawn, strict=True):
        frame.title(one, part.setting)
        marks.dots(one, part.names, part.gain, part.kinds)
    for scale in scales if len(scales) > 1 else ():
        same = [one for one, (of, _) in zip(axes, drawn, strict=True) if of == scale]
        ends = np.array([one.get_xlim() for one in same])
        for one in same:
            one.set_xlim(ends.min(), ends.max())
    note = _note(data) + ("; effects that are far apart have axes of their own" if len(scales) > 1 else "")
    frame.name_sides(axes, data.label, note=note)
    marks.dot_key(axes[0], [(part.gain, part.kinds) for _, part in drawn])
    frame.legend(figure, axes)
    return figure


def _parts(panels: tuple[Savings, ...]) -> list[tuple[int, Savings]]:
    """Return the panels, those with effects that are far apart once for each scale, with the number of the scale."""
    reach = [np.nanmax(np.abs(panel.gain), axis=0) for panel in panels]
    bounds = _scales(reach)
    parts = []
    for panel, reaches in zip(panels, reach, strict=True):
        scales = np.searchsorted(-np.array(bounds), -reaches, side="left")
        different = np.unique(scales)
        for scale in different.tolist():
            setting = panel.setting if len(different) == 1 else heading(panel.setting, _SCALES[min(scale, 1)])
            parts.append((scale, _some(panel, np.flatnonzero(scales == scale), setting)))
    return parts


_SCALES = ("large effects", "small effects")


def _some(panel: Savings, rows: np.ndarray, setting: str) -> Savings:
    names, kinds = (tuple(column[k] for k in rows) for column in (panel.names, panel.kinds))
    return Savings(setting, names, kinds, Means(*(side[rows] for side in panel.gain)), panel.n[rows])


def _scales(reach: list[np.ndarray]) -> list[float]:
    """Return the least reach of the larger effects, which have another scale than all below; empty where one will do.

    One will not do where the largest effects of two panels are far apart, or the largest of one and its median. The
    bound lies where the effects on either side differ least among themselves.
    """
    known = [one[one > 0] for one in reach if (one > 0).any()]
    largest = np.array([one.max() for one in known])
    middle = np.array([np.median(one) for one in known])
    if not known or (largest < FAR_APART * np.minimum(middle, largest.min())).all():
        return []
    every = np.unique(np.concatenate(known))
    spread = np.maximum(every[:-1] / every[0], every[-1] / every[1:])
    return [float(every[1 + int(np.argmin(spread))])]


def _note(data: SavingByPolicy) -> str:
    estimate = "geometric mean" if data.unit == "percent" else "mean"
    return rests_on((n for panel in data.panels for n in panel.n.tolist()), estimate=estimate)


_WORDS = {"own": "yours", "upper bound": "upper bound"}
"""What follows the name of a row, where there are no marks."""


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
    kinds = {name: kind for panel in data.panels for name, kind in zip(panel.names, panel.kinds, strict=True)}
    rows = [frame.words(name) + (f" ({_WORDS[kinds[name]]})" if kinds[name] in _WORDS else "") for name in names]
    axes.set_yticks(range(len(names)), rows)
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
