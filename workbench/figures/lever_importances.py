"""Which levers make trials of a tuning study good: shares, a panel a goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.figures.figure_files import Column
from workbench.figures.registry import OfStudy, on_paper
from workbench.tuning.importances import INERT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from workbench.tuning.results import StudyResults


MOST_LEVERS = 8
"""Shown in each panel; the CSV has all."""


class LeverImportances(NamedTuple):
    """What is drawn."""

    levers: tuple[str, ...]
    """The dotted path of every tuned lever."""
    goals: tuple[str, ...]
    """The front, and each objective."""
    shares: np.ndarray
    """float64[goals, levers]; those of the levers add up to 1, that of the inert one is what noise alone reaches."""
    trials: int
    """How many trials they rest on."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a lever."""
        return {"lever": list(self.levers), **dict(zip(self.goals, self.shares, strict=True))}


def lever_importances_data(results: StudyResults) -> LeverImportances | None:
    """Compute the shares by PED-ANOVA; None where too few trials are done."""
    table = results.importances
    if not len(table):
        return None
    goals = tuple(name for name in table.columns if name != "lever")
    kept = results.study.constraints
    done = sum(trial.values is not None and trial.feasible(kept) for trial in results.all_trials)
    return LeverImportances(tuple(table["lever"]), goals, table[list(goals)].to_numpy().T, done)


@on_paper
def draw_lever_importances(data: LeverImportances) -> Figure:
    """Draw bars, the longest on top."""
    from workbench.figures import frame, marks, plot_style

    rows = min(len(data.levers), MOST_LEVERS)
    sheet, panels = plot_style.stacked(len(data.goals), 0.35 + 0.15 * rows, share_x=True)
    for axes, goal, shares in zip(panels, data.goals, data.shares, strict=True):
        order = np.argsort(-shares, kind="stable")[:rows]
        place = np.arange(rows)[::-1]
        axes.barh(place, 100 * shares[order], 0.7, color=marks.GOOD, edgecolor=marks.INK, linewidth=0.4)
        axes.axvline(100 * shares[data.levers.index(INERT)], color=marks.INK, linewidth=0.6, linestyle=":")
        axes.set_yticks(place, [short_path(data.levers[k]) for k in order])
        axes.tick_params(axis="y", length=0)
        frame.title(axes, goal if goal != "front" else "reaching the front")
    more = f"; {len(data.levers) - rows} more levers each" if len(data.levers) > rows else ""
    frame.name_sides(
        panels,
        "share in what makes a trial good (%)",
        "",
        f"PED-ANOVA over {data.trials} trials{more}; dotted: noise alone",
    )
    return sheet


def short_path(path: str) -> str:
    """Return a lever as a figure names it: without the room, and at most its slot, its policy and itself.

    >>> short_path("policy.choice.weighted_choice.choices[1].least_recent_energy.nx"), short_path("policy.placement")
    ('choice: least recent energy: nx', 'placement')
    """
    if path == INERT:
        return path
    parts = path.split(".")[1:]
    kept = parts if len(parts) <= 2 else [parts[0], *parts[-2:]]
    return ": ".join(part.replace("_", " ") for part in kept)


LEVER_IMPORTANCES_FIGURE = OfStudy(
    "lever_importances",
    "The share of each lever in what makes trials good, for the front and for each objective.",
    lever_importances_data,
    draw_lever_importances,
)
