"""Values that were measured on a real card, with those that a law of an engine predicts for the same points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import MOST_PANELS, check_room
from workbench.figures.registry import Calculation, on_paper
from workbench.validation.data_set import Curve, Result
from workbench.validation.validate import Compared, data_sets, validate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LAWS = 6
_MOST_NAMES = 30
"""Points of a panel that get their names."""
_DENSE = 40
"""Points of a panel from which on markers are small."""


class LawCurve(NamedTuple):
    """The points of one law in one panel."""

    law: str
    style: int
    """Equal of laws that predict the same, which are one line."""
    curve: Curve
    rival: str
    label: str
    """In the legend: all laws of a style."""


class MeasuredAndPredicted(NamedTuple):
    """The measured points of a data set, a panel each part, and the prediction of each law."""

    title: str
    """The measured quantity and the card."""
    panels: tuple[str, ...]
    lines: tuple[LawCurve, ...]
    note: str = ""
    """Which laws are left out."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a panel, law and point."""
        return below(
            {
                "panel": line.curve.panel,
                "law": line.law,
                "x_name": line.curve.x_name,
                "x": line.curve.x,
                "y_name": line.curve.y_name,
                "measured": line.curve.measured,
                "predicted": line.curve.predicted,
                "rival": line.curve.rival,
                "judged": line.curve.judged,
                "neither": np.zeros(len(line.curve.x), bool) if line.curve.neither is None else line.curve.neither,
            }
            for line in self.lines
        )


def measured_and_predicted_data(data_set: str = "") -> MeasuredAndPredicted:
    """Compute the predictions of each law for the points of a data set.

    Parameters
    ----------
    data_set : str
        The name of a data set, as `workbench validate` lists it; empty for the first.

    Raises
    ------
    InputError
        There is no such data set, or it has nothing to draw.
    """
    engines = {each.name: each.engine for each in data_sets()}
    name = data_set or next(iter(engines))
    if name not in engines:
        raise unknown_name("", "data set", name, [*engines])
    return curves_of(next(one for one in validate(engines[name]) if one.data_set.name == name))


def curves_of(compared: Compared) -> MeasuredAndPredicted:
    """Return the drawn part of a data set that was compared.

    Raises
    ------
    InputError
        None of its laws has a curve.
    """
    results = [result for result in compared.results if result.curves]
    if not results:
        raise InputError(f"measured_and_predicted: {compared.data_set.name} has no judged point, so nothing is drawn.")
    labels = _labels(results)
    drawn = [*dict.fromkeys(labels.values())][:MOST_LAWS]
    lines = tuple(
        LawCurve(result.law, drawn.index(label) + 1, curve, result.rival, label)
        for result in results
        for curve in result.curves
        if (label := labels[result.law, curve.panel]) in drawn
    )
    panels = tuple(dict.fromkeys(line.curve.panel for line in lines))
    chosen = {*compared.data_set.drawn}
    further = len(panels)
    if chosen and len(panels) > MOST_PANELS:
        lines = tuple(line for line in lines if line.curve.panel in chosen)
        panels = tuple(dict.fromkeys(line.curve.panel for line in lines))
    check_room(len(panels), len(drawn), "measured_and_predicted")
    left = len({*labels.values()}) - len(drawn)
    notes = [f"{left} further lines of laws are not drawn"] if left else []
    notes += [f"{further - len(panels)} further panels are not drawn"] if further > len(panels) else []
    note = "; ".join(notes)
    return MeasuredAndPredicted(f"{compared.data_set.measures}, {compared.data_set.card}", panels, lines, note)


def _labels(results: Sequence[Result]) -> dict[tuple[str, str], str]:
    """Return the words of the legend for each law and panel; laws that predict the same in all panels have one."""
    named: dict[str, dict[str, bytes]] = {}
    for result in results:
        for curve in result.curves:
            named.setdefault(curve.line or result.law, {})[curve.panel] = np.round(curve.predicted, 9).tobytes()
    alike: dict[tuple[tuple[str, bytes], ...], list[str]] = {}
    for name, panels in named.items():
        alike.setdefault(tuple(panels.items()), []).append(name)
    label = {name: "; ".join(names) for names in alike.values() for name in names}
    return {(result.law, curve.panel): label[curve.line or result.law] for result in results for curve in result.curves}


@on_paper
def draw_measured_and_predicted(data: MeasuredAndPredicted) -> Figure:
    """Draw dots for measured values, hollow if they were fitted, and one line a law; the rival is a dashed line.

    If the points of a panel are only places, laws are hollow markers, of which no two have the same size.
    """
    from workbench.figures import frame, plot_style

    of_panel = {panel: [line for line in data.lines if line.curve.panel == panel] for panel in data.panels}
    named = {panel: 0 < len(lines[0].curve.names) <= _MOST_NAMES for panel, lines in of_panel.items()}
    high = 2.2 if len(data.panels) == 1 else 1.4
    figure, axes = plot_style.stacked(len(data.panels), [high + 0.9 * named[panel] for panel in data.panels])
    rivals = dict.fromkeys(line.rival for line in data.lines if np.isfinite(line.curve.rival).any())
    sides = {(line.curve.x_name, line.curve.y_name) for line in data.lines}
    (x_name, y_name), *others = sides
    frame.name_sides(axes, "" if others else x_name, "" if others else y_name, ". ".join(filter(None, data[::3])))
    for one, (panel, lines) in zip(axes, of_panel.items(), strict=True):
        drawn = {line.style: line for line in lines}
        for line in drawn.values():
            _draw_law(one, line)
        _draw_measured(one, lines[0].curve, f"rival: {next(iter(rivals))}" if len(rivals) == 1 else "simplest rival")
        frame.title(one, panel, f"rival: {lines[0].rival}" if len(rivals) > 1 and lines[0].rival else "")
        if others:
            one.set(xlabel=lines[0].curve.x_name, ylabel=lines[0].curve.y_name)
        if named[panel]:
            names = [name if name.isprintable() else ascii(name) for name in lines[0].curve.names]
            one.set_xticks(lines[0].curve.x, names, rotation=40, ha="right", rotation_mode="anchor")
            one.tick_params("x", labelsize=plot_style.SMALL - (1.5 if len(lines[0].curve.names) > 12 else 0))
        elif not lines[0].curve.joined and not np.mod(lines[0].curve.x, 1).any():
            frame.whole_numbers(one.xaxis, 6)
    frame.legend(figure, axes)
    return figure


def _draw_law(axes: Axes, line: LawCurve) -> None:
    from workbench.figures import frame, marks

    curve, look = line.curve, marks.line_look(line.style)
    order, label = np.argsort(curve.x, kind="stable"), frame.words(line.label)
    if curve.joined:
        look = look if len(curve.x) <= 12 else {"color": look["color"]}
        axes.plot(curve.x[order], curve.predicted[order], linewidth=1.0, label=label, **look)
        return
    small, step = (3.5, 0.9) if len(curve.x) <= _DENSE else (2.0, 0.6) if len(curve.x) <= 3 * _DENSE else (1.0, 0.3)
    size = small + step * line.style
    axes.margins(0.05, 0.12)
    axes.plot(
        curve.x[order], curve.predicted[order], linestyle="none", marker=look["marker"], markersize=size,
        markeredgecolor=look["color"], markerfacecolor="none", markeredgewidth=0.7, label=label,
    )  # fmt: skip


def _draw_measured(axes: Axes, curve: Curve, rival: str) -> None:
    from workbench.figures import plot_style

    order = np.argsort(curve.x, kind="stable")
    if np.isfinite(curve.rival).any():
        look: dict[str, Any] = {"linestyle": "--", "linewidth": 0.8}
        if not curve.joined:
            look = {"linestyle": "none", "marker": "_", "markersize": 5, "markeredgewidth": 0.8}
        axes.plot(curve.x[order], curve.rival[order], color=plot_style.palette().quiet, label=rival, zorder=1, **look)
    neither = np.zeros(len(curve.x), bool) if curve.neither is None else curve.neither
    size = 3 if len(curve.x) > _DENSE else 9
    parts: tuple[tuple[np.ndarray, dict[str, Any], str], ...] = (
        (curve.judged, {"marker": "o", "c": plot_style.palette().ink}, "measured, judged"),
        (
            ~curve.judged & ~neither,
            {"marker": "o", "c": plot_style.palette().paper, "edgecolors": plot_style.palette().ink},
            "measured, fitted",
        ),
        (neither, {"marker": "x", "c": plot_style.palette().ink}, "measured, neither fitted nor judged"),
    )
    for chosen, of_part, label in parts:
        if chosen.any():
            dots = {"s": size, "linewidths": 0.5, "zorder": 3, "label": label, **of_part}
            axes.scatter(curve.x[chosen], curve.measured[chosen], **dots)


MEASURED_AND_PREDICTED_FIGURE = Calculation(
    "measured_and_predicted",
    "Values measured on a real card, with those that each law of an engine predicts for the same points.",
    measured_and_predicted_data,
    draw_measured_and_predicted,
)
