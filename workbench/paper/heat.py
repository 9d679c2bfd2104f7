"""Lost residency as a heat map: a row a trace, a column a granule or a rule, the number in its place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.figures.recipe import Column, on_paper

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from workbench.studies.residency import Survey


class Heat(NamedTuple):
    """What is drawn."""

    rows: tuple[str, ...]
    across: tuple[str, ...]
    lost: np.ndarray
    """float64[rows, across], percent; NaN where there is no such number."""
    below: str
    """What the columns are."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a place."""
        return {
            "trace": np.repeat(self.rows, len(self.across)),
            self.below: np.tile(self.across, len(self.rows)),
            "lost_percent": self.lost.ravel(),
        }


def by_granule(survey: Survey) -> Heat:
    """Return the residency that each granule costs each trace."""
    return _heat(survey.granules, "granule_bytes", lambda value: f"{value:,}", "granule (bytes)")


def by_rule(survey: Survey) -> Heat:
    """Return the residency that each rule costs each trace, all kernels queued at once."""
    queued = survey.rules[survey.rules["arrival"] == "all_at_once"]
    return _heat(queued, "rule", lambda value: str(value).replace("_", " "), "placement rule")


def _heat(table: pd.DataFrame, key: str, text: Callable[[Any], str], below: str) -> Heat:
    alone = dict(zip(table["trace"], table["counts"] != "whole", strict=True))
    traces, columns = list(dict.fromkeys(table["trace"])), list(dict.fromkeys(table[key]))
    lost = np.full((len(traces), len(columns)), np.nan)
    for trace, column, value in zip(table["trace"], table[key], table["lost"], strict=True):
        lost[traces.index(trace), columns.index(column)] = 100 * value
    rows = tuple(name + (" *" if alone[name] else "") for name in traces)
    return Heat(rows, tuple(map(text, columns)), lost, below)


@on_paper
def draw(data: Heat) -> Figure:
    """Draw one coloured place a number, the number written into it."""
    from workbench.figures import frame, ink, marks

    figure, (axes,) = ink.stacked(1, 0.5 + 0.17 * len(data.rows))
    tints = marks.heat(axes, data.lost, lambda _, __, value: f"{value:.1f}")
    axes.set_yticks(range(len(data.rows)), [frame.words(name) for name in data.rows])
    axes.set_xticks(range(len(data.across)), data.across, rotation=30, ha="right")
    axes.set_xlabel(data.below)
    frame.colour_bar([axes], tints, "residency lost (%)")
    frame.name_foot(figure, "* = dynamic shared memory alone was recorded")
    return figure
