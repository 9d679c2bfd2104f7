"""What the paper rests on: two sweeps, and a survey of recorded kernels where the public traces are here.

The survey is drawn as a heat map of lost residency: a row a trace, a column a granule or a rule.

"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.api import Results, run
from workbench.figures.registry import Column, on_paper
from workbench.studies.residency import Survey, public_traces, survey
from workbench.workloads.catalogue import available

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


SERVING_TRACE = "rocprofv3_mi355x_part1"
RULES = (
    "first_fit",
    "unsorted_free_list",
    "byte_counter",
    "worst_fit",
    "best_fit",
    "ring_buffer",
    "nearest_boundary",
)
_SERVING: dict[str, Any] = {
    "question": "Does the rule matter on the shared-memory requests of a real serving trace?",
    "engine": "shared_memory",
    "machine": "mi350x",
    "workload": {"trace": SERVING_TRACE, "unit": -1, "arrival": "all_at_once", "longest_us": 200, "count": 600},
    "policy": {"placement": {"vary": list(RULES)}},
    "baseline": {"placement": "first_fit"},
    "measures": ["drain_cycles", "mean_external_fragmentation", "blocked_by_fragmentation_rate"],
    "figures": ["remaining_over_time"],
}
_IN_ITS_PLACE: dict[str, Any] = {
    **_SERVING,
    "question": "Does the rule matter on synthetic requests of a serving run's kind: many small, few large?",
    "machine": {"segments": 128},
    "workload": {
        "synthetic": "random_workgroups",
        "count": 300,
        "size": {"bimodal": {"small_share": 0.7, "small": [1, 4], "large": [16, 102]}},
        "duration": {"uniform": [1, 100]},
    },
}
"""Stands for the serving trace where that is not on this machine; the paper then says so."""


class Evidence(NamedTuple):
    """What the paper rests on."""

    placement: Results
    """The six rules and the source document's on synthetic workloads."""
    serving: Results
    """The same on a serving trace, or on what stands for it."""
    real: bool
    """Whether `serving` is of the real trace."""
    residency: Survey | None
    """Of all public traces of kernels; None where none is on this machine."""


def gathered(
    sweep: str | Path | Mapping[str, Any],
    seeds: int = 200,
    out: str | Path | None = None,
    workers: int | None = None,
    units: int = 10,
) -> Evidence:
    """Run what the paper needs and `out` does not hold yet.

    Parameters
    ----------
    sweep : path or mapping
        The sweep of the six rules on synthetic workloads, `sweeps/placement/six_open_gpus.yaml`.
    seeds : int
        Paired runs a point; of the serving trace each is another compute unit's share.
    out : path, optional
        A folder that keeps every row; without one the rows live in memory.
    workers : int, optional
        As `run` takes it.
    units : int
        Runs a rule and trace in the survey of residency.

    Raises
    ------
    InputError
        There is no such sweep, or it is not valid.
    """
    real, traces = available(SERVING_TRACE), public_traces()
    serving: Mapping[str, Any] = _SERVING if real else _IN_ITS_PLACE
    folder = None if out is None else Path(out)
    placement = run(sweep, _inside(folder, "placement"), seeds=seeds, workers=workers)
    served = run(serving, _inside(folder, "serving" if real else "synthetic"), seeds=seeds, workers=workers)
    return Evidence(placement, served, real, survey(traces, units=units) if traces else None)


def _inside(folder: Path | None, name: str) -> Path | None:
    return None if folder is None else folder / name


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
    from workbench.figures import frame, marks, plot_style

    figure, (axes,) = plot_style.stacked(1, 0.5 + 0.17 * len(data.rows))
    tints = marks.heat(axes, data.lost, lambda _, __, value: f"{value:.1f}")
    axes.set_yticks(range(len(data.rows)), [frame.words(name) for name in data.rows])
    axes.set_xticks(range(len(data.across)), data.across, rotation=30, ha="right")
    axes.set_xlabel(data.below)
    frame.colour_bar([axes], tints, "residency lost (%)")
    frame.name_foot(figure, "* = dynamic shared memory alone was recorded")
    return figure
