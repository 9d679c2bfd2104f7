"""An advice for a paper: bytes over the events, and what settings reserve at the peak."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.figures._flame_graph import GIB, draw_flames, flame_data
from workbench.figures._memory_timeline import draw_timeline, timeline_data
from workbench.figures.figure_files import Column, save
from workbench.figures.registry import on_paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from workbench.advice.torch_memory.advice import Advice
    from workbench.advice.torch_memory.trial import Trial


PLACES = 600
"""Stretches of events of which the highest value is drawn."""
MOST_CARDS_DRAWN = 4
"""Cards that have bars, the one that failed first; the CSV file has all."""
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
    cards: tuple[str, ...]
    """Names of the cards, the one that the lines are of first."""
    settings: tuple[str, ...]
    reserved_gib: np.ndarray
    """float64[cards, settings], at the peak of each card; no sum over cards."""
    live_gib: np.ndarray
    """float64[cards], live bytes at the peak: no setting reserves less."""
    planned_gib: np.ndarray
    """float64[cards], what addresses planned beforehand need."""

    def columns(self) -> dict[str, Column]:
        """Return a row a line and event, then for each card one a setting and one a bound, with an event of -1."""
        sizes = [len(line.gib) for line in self.lines]
        bounds = ["live at the peak", "addresses planned beforehand"]
        of_card = len(self.settings) + len(bounds)
        rest = np.column_stack([self.reserved_gib, self.live_gib, self.planned_gib])
        return {
            "kind": [*["line"] * sum(sizes), *(["setting"] * len(self.settings) + ["bound"] * 2) * len(self.cards)],
            "card": [*[self.cards[0]] * sum(sizes), *np.repeat(self.cards, of_card)],
            "name": [
                *np.repeat([line.name for line in self.lines], sizes),
                *[*self.settings, *bounds] * len(self.cards),
            ],
            "event": np.concatenate([*(line.event for line in self.lines), np.full(rest.size, -1)]),
            "gib": np.concatenate([*(line.gib for line in self.lines), rest.ravel()]),
        }


def advice_data(advice: Advice) -> AdviceFigure:
    """Return the data of the figure of an advice."""
    displayed = _listed_settings(advice)
    files = {card.file for card in advice.cards}
    names = [card.name if len(files) < 2 else f"{card.name} of {Path(card.file).name}" for card in advice.cards]
    return AdviceFigure(
        lines=tuple(_line(curve.name, curve.bytes) for curve in advice.curves()),
        cards=tuple(names),
        settings=tuple(conf for conf, _ in displayed),
        reserved_gib=np.array([peaks for _, peaks in displayed]).T / GIB,
        live_gib=np.array(advice.active_peaks) / GIB,
        planned_gib=np.array(advice.offline_plans) / GIB,
    )


def _listed_settings(advice: Advice) -> list[tuple[str, tuple[int, ...]]]:
    """Return the settings with different peaks, each with those of all cards, the best of the first card first; the
    recorded settings are among them."""

    def peaks(trial: Trial) -> tuple[int, ...]:
        return tuple(card.reserved_peak_bytes for card in trial.cards)

    own = advice.own_trial
    how = "recorded" if advice.is_whole else "as recorded, replayed"
    result = {peaks(own): f"{own.conf or 'defaults'} ({how})"}
    for trial in advice.trials:
        result.setdefault(peaks(trial), trial.conf or "defaults")
    rows = sorted((conf, sizes) for sizes, conf in result.items())
    rows.sort(key=lambda row: row[1])
    kept = rows[:MOST_SETTINGS_DRAWN]
    recorded = next(row for row in rows if row[1] == peaks(own))
    return kept if recorded in kept else [*kept[:-1], recorded]


def _line(name: str, size: np.ndarray) -> Line:
    """Return the highest value of each stretch of events."""
    edges = np.unique(np.linspace(0, len(size), min(PLACES, len(size)) + 1).astype(np.int64)[:-1])
    highest = np.maximum.reduceat(size, edges) if len(size) else np.zeros(0, np.int64)
    return Line(name, edges, highest / GIB)


@on_paper
def draw(data: AdviceFigure) -> Figure:
    """Draw steps over the events of the first card above bars of the settings, card by card, with both bounds as
    lines."""
    from workbench.figures import frame, plot_style

    drawn = min(len(data.cards), MOST_CARDS_DRAWN)
    figure, (curves, *panels) = plot_style.stacked(1 + drawn, (1.9, *[0.5 + 0.24 * len(data.settings)] * drawn))
    _curves(curves, data)
    for place, bars in enumerate(panels):
        _bars(bars, data, place)
    frame.legend(figure, [curves, panels[0]])
    return figure


def _curves(axes: Axes, data: AdviceFigure) -> None:
    from workbench.figures import marks, plot_style

    for number, line in enumerate(data.lines):
        if number == 0:
            axes.fill_between(
                line.event, line.gib, step="post", color=plot_style.palette().cached, linewidth=0, label=line.name
            )
        else:
            look = marks.line_look(number)
            axes.step(line.event, line.gib, where="post", color=look["color"], linewidth=0.9, label=_short(line.name))
    axes.set(xlabel="event", ylabel="memory (GiB)")
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


def _bars(axes: Axes, data: AdviceFigure, card: int) -> None:
    from workbench.figures import plot_style

    tones, places = plot_style.palette(), np.arange(len(data.settings))[::-1]
    axes.barh(places, data.reserved_gib[card], color=tones.raised, edgecolor=tones.sizes[1], linewidth=0.8, height=0.7)
    for place, name in zip(places, data.settings, strict=True):
        axes.text(0, place, f" {_short(name)}", va="center", fontsize="x-small")
    axes.axvline(data.live_gib[card], color=tones.ink, linewidth=0.8, label="live at the peak")
    axes.axvline(
        data.planned_gib[card],
        color=tones.series[1],
        linewidth=0.8,
        linestyle="--",
        label="addresses planned beforehand",
    )
    axes.set_yticks([])
    of = f" on {data.cards[card]}" if len(data.cards) > 1 else ""
    axes.set(xlabel=f"reserved at the peak{of} (GiB)")


def _short(name: str, most: int = 64) -> str:
    """Return a setting in fewer letters, as a legend and a bar have space for; the CSV file has it whole."""
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
    """Save the figures of an advice in a folder, which is made if need be, each as PDF, PNG and CSV.

    `advice` has curves and settings, `flame` who held what by stack, `timeline` the live blocks over the events.

    Raises
    ------
    StoreError
        A file cannot be written.
    """
    data, flames, blocks = advice_data(advice), flame_data(advice), timeline_data(advice)
    return [
        *save(draw(data), data, folder, "advice"),
        *save(draw_flames(flames), flames, folder, "flame"),
        *save(draw_timeline(blocks), blocks, folder, "timeline"),
    ]
