"""How fast a tuning study reached its front: the hypervolume after each trial."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.figures.figure_files import Column
from workbench.figures.registry import OfStudy, on_paper

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.tuning.results import StudyResults


ENOUGH = 0.95


class HypervolumeHistory(NamedTuple):
    """What is drawn."""

    sampler: str
    volumes: np.ndarray
    """float64[trials], the hypervolume so far, in the product of the objectives' units."""
    shares: np.ndarray
    """float64[trials], of the final one."""
    enough: int | None
    """After how many trials 95 % of the final hypervolume was reached."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a trial."""
        return {"trials": np.arange(1, len(self.shares) + 1), "hypervolume": self.volumes, "share": self.shares}


def hypervolume_history_data(results: StudyResults) -> HypervolumeHistory | None:
    """Compute the hypervolume on the study's own seeds; None where no trial counts."""
    history = results.history
    if not len(history.volumes) or not history.volumes[-1] > 0:
        return None
    return HypervolumeHistory(results.study.sampler.name, history.volumes, history.shares, history.trials_to(ENOUGH))


@on_paper
def draw_hypervolume_history(data: HypervolumeHistory) -> Figure:
    """Draw a line in steps, with the place where 95 % is reached."""
    from workbench.figures import frame, marks, plot_style

    sheet, (axes,) = plot_style.stacked(1, 1.7)
    trials = np.arange(1, len(data.shares) + 1)
    axes.step(trials, 100 * data.shares, where="post", color=marks.GOOD)
    if data.enough is not None:
        axes.axhline(100 * ENOUGH, color=marks.QUIET, linewidth=0.7, zorder=1)
        axes.plot([data.enough], [100 * data.shares[data.enough - 1]], "o", color=marks.INK, zorder=3)
        right = data.enough < 0.6 * len(trials)
        axes.annotate(
            f"95 % after {data.enough} trials",
            (data.enough, 100 * ENOUGH),
            (5 if right else -5, -9),
            textcoords="offset points",
            ha="left" if right else "right",
            va="top",
        )
    axes.set_xlim(1, max(len(trials), 2))
    axes.set_ylim(0, 104)
    frame.title(axes, f"sampler {data.sampler}")
    frame.name_sides([axes], "trials", "hypervolume (% of the final one)")
    return sheet


HYPERVOLUME_HISTORY_FIGURE = OfStudy(
    "hypervolume_history",
    "The hypervolume of the front after each trial, as a share of the final one.",
    hypervolume_history_data,
    draw_hypervolume_history,
)
