"""An advice for a paper: bytes over the events, and what settings reserve at the peak."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.figures._flame_graph import GIB, draw_flames, flame_data
from workbench.figures.figure_files import Column, save
from workbench.figures.registry import on_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.advice.torch_memory.advice import Advice


PLACES = 600
"""Stretches of events of which the highest value is drawn."""
MOST_SETTINGS_DRAWN = 8
"""Settings at most: the best, PyTorch's defaults and the recorded ones among them."""

_NAMES = (
    ("expandable_segments:True", "expandable"),
    ("roundup_power2_divisions:", "roundup "),
    ("max_split_size_mb:", "split "),
    ("max_non_split_rounding_mb:", "rounding "),
)


class Line(NamedTuple):
    """Bytes over the events of the first card."""

    name: str
    event: np.ndarray
    """int64[places], the first event of each stretch."""
    gib: np.ndarray
    """float64[places]."""


class AdviceFigure(NamedTuple):
    """What is drawn."""

    lines: tuple[Line, ...]
    settings: tuple[str, ...]
    reserved_gib: np.ndarray
    """float64[settings], at the peak, all cards together."""
    live_gib: float
    """Live bytes at the peak: no setting reserves less."""
    planned_gib: float
    """What addresses planned beforehand need."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a line and event, then one a setting, with an event of -1, then
        the two bounds."""
        sizes = [len(line.gib) for line in self.lines]
        bounds = ["live at the peak", "addresses planned beforehand"]
        rest = np.full(len(self.settings) + 2, -1)
        return {
            "kind": np.repeat(["line", "setting", "bound"], [sum(sizes), len(self.settings), 2]),
            "name": [*np.repeat([line.name for line in self.lines], sizes), *self.settings, *bounds],
            "event": np.concatenate([*(line.event for line in self.lines), rest]),
            "gib": np.concatenate(
                [*(line.gib for line in self.lines), self.reserved_gib, [self.live_gib, self.planned_gib]]
            ),
        }


def advice_data(advice: Advice) -> AdviceFigure:
    """Return what the figure of an advice shows."""
    displayed = _listed_settings(advice)
    return AdviceFigure(
        lines=tuple(_line(curve.name, curve.bytes) for curve in advice.curves()),
        settings=tuple(conf for conf, _ in displayed),
        reserved_gib=np.array([size for _, size in displayed]) / GIB,
        live_gib=advice.active_peak_bytes / GIB,
        planned_gib=advice.offline_plan_bytes / GIB,
    )


def _listed_settings(advice: Advice) -> list[tuple[str, int]]:
    """Return the settings with different peaks, the best first; the recorded settings are among them."""
    own = advice.own_trial
    how = "recorded" if advice.is_whole else "as recorded, replayed"
    result = {own.reserved_peak_bytes: f"{own.conf or 'defaults'} ({how})"}
    for trial in advice.trials:
        result.setdefault(trial.reserved_peak_bytes, trial.conf or "defaults")
    rows = sorted((conf, size) for size, conf in result.items())
    rows.sort(key=lambda row: row[1])
    kept = rows[:MOST_SETTINGS_DRAWN]
    recorded = next(row for row in rows if row[1] == own.reserved_peak_bytes)
    return kept if recorded in kept else [*kept[:-1], recorded]


def _line(name: str, size: np.ndarray) -> Line:
    """Return the highest value of each stretch of events."""
    edges = np.unique(np.linspace(0, len(size), min(PLACES, len(size)) + 1).astype(np.int64)[:-1])
    highest = np.maximum.reduceat(size, edges) if len(size) else np.zeros(0, np.int64)
    return Line(name, edges, highest / GIB)


@on_paper
def draw(data: AdviceFigure) -> Figure:
    """Draw steps over the events above bars of the settings, with both bounds as lines."""
    from workbench.figures import frame, plot_style

    figure, (curves, bars) = plot_style.stacked(2, (1.9, 0.5 + 0.24 * len(data.settings)))
    _curves(curves, data)
    _bars(bars, data)
    frame.legend(figure, [curves, bars])
    return figure


def _curves(axes: Axes, data: AdviceFigure) -> None:
    from workbench.figures import marks

    for number, line in enumerate(data.lines):
        if number == 0:
            axes.fill_between(line.event, line.gib, step="post", color="#D0D0D0", linewidth=0, label=line.name)
        else:
            look = marks.line_look(number)
            axes.step(line.event, line.gib, where="post", color=look["color"], linewidth=0.9, label=_short(line.name))
    axes.set(xlabel="event", ylabel="memory (GiB)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


def _bars(axes: Axes, data: AdviceFigure) -> None:
    places = np.arange(len(data.settings))[::-1]
    axes.barh(places, data.reserved_gib, color="#9DB7D5", height=0.7)
    for place, name in zip(places, data.settings, strict=True):
        axes.text(0, place, f" {_short(name)}", va="center", fontsize="x-small")
    axes.axvline(data.live_gib, color="#222222", linewidth=0.8, label="live at the peak")
    axes.axvline(data.planned_gib, color="#D55E00", linewidth=0.8, linestyle="--", label="addresses planned beforehand")
    axes.set_yticks([])
    axes.set(xlabel="reserved at the peak (GiB)")


def _short(name: str, most: int = 64) -> str:
    """Return a setting in fewer letters, as a legend and a bar have room for; the CSV file has it whole."""
    for long, short in _NAMES:
        name = name.replace(long, short)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def advice_figure(advice: Advice) -> Figure:
    """Draw an advice for a paper: curves over the events, and what the settings reserve at the peak.

    Parameters
    ----------
    advice : Advice
        As `workbench.advise` gives it.

    Examples
    --------
    >>> import workbench as wb
    >>> drawn = advice_figure(wb.advise("data/made_up_snapshot.pickle.gz"))
    >>> [axes.get_xlabel() for axes in drawn.axes]
    ['event', 'reserved at the peak (GiB)']
    """
    return draw(advice_data(advice))


def save_advice(advice: Advice, folder: Path) -> list[Path]:
    """Save the figures of an advice in a folder, which is made if need be: curves and settings as advice.pdf, .png and
    .csv, who held what by stack as flame.pdf, .png and .csv.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    data, flames = advice_data(advice), flame_data(advice)
    return save(draw(data), data, folder, "advice") + save(draw_flames(flames), flames, folder, "flame")
