"""Values that were measured on a real card, with those that a law of an engine predicts for the same points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import check_room
from workbench.figures.registry import Calculation, on_paper
from workbench.validation.data_set import Curve, Result
from workbench.validation.validate import Compared, data_sets, validate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_LAWS = 6


class LawCurve(NamedTuple):
    """The points of one law in one panel."""

    law: str
    style: int
    curve: Curve


class MeasuredAndPredicted(NamedTuple):
    """The measured points of a data set, a panel each part, and the prediction of each law."""

    title: str
    """The measured quantity and the card."""
    panels: tuple[str, ...]
    lines: tuple[LawCurve, ...]

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
    names = [each.name for each in data_sets()]
    name = data_set or names[0]
    if name not in names:
        raise unknown_name("", "data set", name, names)
    return curves_of(next(one for one in validate() if one.data_set.name == name))


def curves_of(compared: Compared) -> MeasuredAndPredicted:
    """Return what is drawn of a data set that was compared.

    Raises
    ------
    InputError
        None of its laws has a curve.
    """
    results: list[Result] = [result for result in compared.results if result.curves][:MOST_LAWS]
    if not results:
        raise InputError(f"measured_and_predicted: {compared.data_set.name} has no judged point, so nothing is drawn.")
    panels = tuple(dict.fromkeys(curve.panel for result in results for curve in result.curves))
    check_room(len(panels), len(results), "measured_and_predicted")
    lines = [LawCurve(result.law, style, curve) for style, result in enumerate(results, 1) for curve in result.curves]
    return MeasuredAndPredicted(f"{compared.data_set.measures}, {compared.data_set.card}", panels, tuple(lines))


@on_paper
def draw_measured_and_predicted(data: MeasuredAndPredicted) -> Figure:
    """Draw dots for measured values, hollow if they were fitted, and one line a law; the rival is a dashed line."""
    from workbench.figures import frame, marks, plot_style

    figure, axes = plot_style.stacked(len(data.panels), 2.2 if len(data.panels) == 1 else 1.4, share_x=False)
    known = dict(zip(data.panels, axes, strict=True))
    for line in data.lines:
        curve, one = line.curve, known[line.curve.panel]
        order = np.argsort(curve.x, kind="stable")
        colour = marks.line_look(line.style)["color"]
        single: dict[str, Any] = {"marker": "_", "markersize": 9, "linestyle": "none"} if len(curve.x) < 3 else {}
        one.plot(curve.x[order], curve.predicted[order], color=colour, linewidth=1.0, label=line.law, **single)
    for panel, one in known.items():
        curve = next(line.curve for line in data.lines if line.curve.panel == panel)
        order = np.argsort(curve.x, kind="stable")
        if np.isfinite(curve.rival).any():
            one.plot(
                curve.x[order], curve.rival[order], color=marks.QUIET, linestyle="--", linewidth=0.8, label="rival"
            )
        for judged, fill, label in ((True, marks.INK, "measured, judged"), (False, "white", "measured, fitted")):
            chosen = curve.judged == judged
            if chosen.any():
                one.scatter(
                    curve.x[chosen], curve.measured[chosen], s=9, c=fill, edgecolors=marks.INK, linewidths=0.5,
                    zorder=3, label=label,
                )  # fmt: skip
        frame.title(one, panel)
    first = data.lines[0].curve
    frame.name_sides(axes, first.x_name, first.y_name, data.title)
    frame.legend(figure, axes)
    return figure


MEASURED_AND_PREDICTED_FIGURE = Calculation(
    "measured_and_predicted",
    "Values measured on a real card, with those that each law of an engine predicts for the same points.",
    measured_and_predicted_data,
    draw_measured_and_predicted,
)
