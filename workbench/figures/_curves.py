"""Curves over an axis: one line a point, one panel a setting, means over the seeds with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.figures.estimates import Means, rests_on
from workbench.figures.figure_files import Column, below
from workbench.figures.registry import on_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Curve(NamedTuple):
    """One line."""

    panel: int
    """Which panel it is in."""
    name: str
    style: int
    n: Any
    """Seeds that it is the mean of: an int, or int64[places] where places differ in it."""
    x: np.ndarray
    """[places], increasing."""
    means: Means
    """What is estimated over the seeds at each place, and its interval."""
    more: Mapping[str, float] = {}
    """Further columns: a number of the whole line each."""


class Look(NamedTuple):
    """How curves of a kind are drawn and what their small print says."""

    heights: tuple[float, float] = (1.75, 1.25)
    """Inches of the panel where it is alone, and of each where there are several."""
    share_x: bool = False
    dots: float = 0
    """Lines with so many places or fewer are dots with intervals, longer ones steps with a band."""
    mark: Callable[[Axes, Curve, Curves], None] | None = None
    """Draws a line, where it is neither."""
    panel: Callable[[Axes, list[Curve], Curves], None] | None = None
    """Sets the axes of a panel after its lines are drawn."""
    ticks: str = ""
    """`values` of a lever or `each` place; else as Matplotlib puts them."""
    counted: bool = False
    """Whether lines tell their number of seeds where they differ in it."""
    pointwise: bool = True
    """Whether the intervals are bands around a curve."""
    estimate: str = "mean"
    left_out: str = ""
    """Why the points in `without` have no line."""


class Curves(NamedTuple):
    """What is drawn."""

    x: str
    """The name of the column with the places, such as the dotted path of a lever."""
    x_label: str
    y: tuple[str, ...]
    """The names of the columns of the estimates and, where there are some, of the limits of their intervals."""
    y_label: str
    titles: tuple[str, ...]
    """One a panel."""
    lines: tuple[Curve, ...]
    look: Look
    without: tuple[str, ...] = ()
    """Points of which nothing can be drawn."""
    seed: int | None = None
    """The one run of every point that is shown, where it is one."""
    note: str = ""
    """The small print, where it is not what estimates rest on."""
    caption: str = ""
    """What is drawn, in a sentence; empty where the description of the figure says it."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and place."""
        return below(
            {
                "setting": self.titles[line.panel],
                "line": line.name,
                **self._places(line),
                **dict(zip(self.y, line.means)),
                **line.more,
            }
            for line in self.lines
        )

    def _places(self, line: Curve) -> dict[str, Any]:
        if self.seed is not None:
            return {"seed": self.seed, self.x: line.x}
        return {"runs": line.n, self.x: line.x} if self.look.pointwise else {self.x: line.x, "seeds": line.n}


@on_paper
def draw_curves(data: Curves) -> Figure:
    """Draw lines with their intervals; the legend is above the panels."""
    from workbench.figures import frame, marks, plot_style

    look = data.look
    figure, axes = plot_style.stacked(len(data.titles), look.heights[len(data.titles) > 1], share_x=look.share_x)
    counts = [n for line in data.lines for n in np.ravel(line.n).tolist()]
    for line in data.lines:
        if look.mark is not None:
            look.mark(axes[line.panel], line, data)
            continue
        mark = marks.interval_line if len(line.x) <= look.dots else marks.step_line
        name = f"{line.name} (n = {line.n})" if look.counted and len({*counts}) > 1 else line.name
        mark(axes[line.panel], line.x, line.means, line.style, name)
    for place, (one, title) in enumerate(zip(axes, data.titles, strict=True)):
        frame.title(one, title)
        if look.panel is not None:
            look.panel(one, [line for line in data.lines if line.panel == place], data)
    if look.ticks:
        at = np.unique(np.concatenate([line.x for line in data.lines]))
        frame.value_axis(axes[-1], at) if look.ticks == "values" else axes[-1].set_xticks(at)
    left_out = f"; {look.left_out}: {', '.join(data.without)}" if data.without else ""
    note = data.note or rests_on(counts, look.pointwise, look.estimate) + left_out
    frame.name_sides(axes, data.x_label, data.y_label, note)
    frame.legend(figure, axes)
    return figure
