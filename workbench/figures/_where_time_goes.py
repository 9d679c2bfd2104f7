"""The parts of a group's time, which sum exactly, stacked policy by policy (spec 6, R18)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.experiments.results import Results
from workbench.figures.figure_files import Column, below
from workbench.figures.panels import drawn_panels, undefined, values
from workbench.figures.registry import on_paper, recipe
from workbench.number_text import to_decimals
from workbench.runs.run import PlannedPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PARTS = {
    "compute": ("compute", "taken"),
    "channel": ("wait in channel", "kinds4"),
    "memory": ("wait for memory", "kinds1"),
    "issue": ("issue", "cached"),
    "walkers": ("wait for walkers", "kinds6"),
    "translation": ("other translation", "series4"),
    "link": ("link", "kinds2"),
    "shoot_down": ("shoot-down", "kinds3"),
    "malloc_service": ("malloc service", "kinds8"),
    "malloc_lock": ("malloc lock", "kinds0"),
    "heap_chunk": ("heap chunk", "kinds7"),
}
"""In the order of the bars: the words and the color of each part, by its name in the palette."""

_LETTERS = 24
"""Of a line of a bar's name."""
_MOST_NAMES = 44
"""Letters of a bar's name; longer ones are told by their place: the baseline, the others."""


class Bar(NamedTuple):
    """One bar."""

    panel: int
    name: str
    n: int
    """Seeds that it is the mean of."""
    cycles: np.ndarray
    """float64[parts], of the mean group, averaged over the seeds."""
    percent: np.ndarray
    """The same over the sum of the panel's first bar."""


class WhereTimeGoes(NamedTuple):
    """Where the time of a group goes: waits for memory, channel, walkers, links, heaps and compute, stacked by
    policy."""

    titles: tuple[str, ...]
    """One a panel."""
    bars: tuple[Bar, ...]

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a bar and part."""
        return below(
            {
                "setting": self.titles[bar.panel],
                "line": bar.name,
                "seeds": bar.n,
                "part": [*PARTS],
                "mean_cycles": bar.cycles,
                "percent_of_first": bar.percent,
            }
            for bar in self.bars
        )


def where_time_goes_data(runs: Results) -> WhereTimeGoes:
    """Compute the mean parts of a group's time, averaged over the seeds that have groups, bar by bar.

    Raises
    ------
    InputError
        There are more panels or bars than can be drawn, or a point has no finished run in which a group ended.
    """
    panels, bars = drawn_panels(runs, "where_time_goes"), list[Bar]()
    for place, panel in enumerate(panels):
        whole = 0.0
        for line in panel.lines:
            cycles, n = _cycles(runs, line.point)
            whole = whole or float(cycles.sum())
            bars.append(Bar(place, line.name, n, cycles, 100 * cycles / (whole or np.nan)))
    return WhereTimeGoes(tuple(panel.title for panel in panels), _named(bars))


def _cycles(runs: Results, point: PlannedPoint) -> tuple[np.ndarray, int]:
    columns = [values(runs, point, f"group_mean_{name}_cycles", "where_time_goes") for name in PARTS]
    seeds = list(columns[0])
    if not seeds:
        raise undefined(runs, point, "group_mean_cycles", "where_time_goes")
    return np.array([[column[seed] for seed in seeds] for column in columns]).mean(axis=1), len(seeds)


def _named(bars: list[Bar]) -> tuple[Bar, ...]:
    """Return the bars, those of two that differ in too much for a name as baseline and the documents' policies."""
    if max((len(bar.name) for bar in bars), default=0) <= _MOST_NAMES:
        return tuple(bars)
    sizes = {panel: sum(bar.panel == panel for bar in bars) for panel in {bar.panel for bar in bars}}
    if set(sizes.values()) != {2}:
        return tuple(bars)
    return tuple(bar._replace(name="other" if k % 2 else "baseline") for k, bar in enumerate(bars))


@on_paper
def draw_where_time_goes(data: WhereTimeGoes) -> Figure:
    """Draw a bar of all parts a policy, the first on top, all of a panel in percent of the first."""
    from workbench.figures import frame, marks, plot_style

    rows = [[bar for bar in data.bars if bar.panel == place] for place in range(len(data.titles))]
    named = plot_style.palette().named()
    names, colours = zip(*((words, named[color]) for words, color in PARTS.values()), strict=True)
    figure, axes = plot_style.stacked(len(rows), [0.33 + 0.24 * len(bars) for bars in rows], share_x=True)
    for one, title, bars in zip(axes, data.titles, rows, strict=True):
        frame.title(one, f"{title}: {to_decimals(bars[0].cycles.sum(), 0)} cycles a group" if title else "")
        percent = np.stack([bar.percent for bar in bars])
        marks.stacked_bars(one, [bar.name for bar in bars], percent, colours, _LETTERS, height=0.76, linewidth=0.25)
        one.axvline(100, color=plot_style.palette().ink, linewidth=0.6, linestyle=":")
    axes[0].set_xlim(0, 1.02 * max(float(bar.percent.sum()) for bar in data.bars))  # all panels share it
    marks.swatches(axes[0], names, colours)
    seeds = sorted({bar.n for bar in data.bars})
    note = f"means of {seeds[0]}{f' to {seeds[-1]}' if seeds[1:] else ''} seeds"
    frame.name_sides(axes, "time of a group (% of the first bar)", note=note if seeds != [1] else "one seed")
    frame.legend(figure, axes)
    return figure


WHERE_TIME_GOES_FIGURE = recipe("node", where_time_goes_data, draw_where_time_goes)
