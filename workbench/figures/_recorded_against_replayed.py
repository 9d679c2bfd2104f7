"""Memory that PyTorch's allocator reserved as recorded and as replayed, and how many addresses came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results import Results
from workbench.figures.figure_files import Column
from workbench.figures.panels import common_seed
from workbench.figures.registry import on_paper, recipe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


GIB = 1 << 30
_COUNTS = ("segment_allocs", "segment_allocs_reproduced", "allocs", "addresses_reproduced")


class RecordedAgainstReplayed(NamedTuple):
    """Memory reserved at the peak as recorded and as replayed, and the share of addresses that came out, by
    recording."""

    names: tuple[str, ...]
    recorded_gib: np.ndarray
    """float64[recordings], reserved at the peak."""
    replayed_gib: np.ndarray
    counts: np.ndarray
    """int64[recordings, 4], segment allocations and those reproduced, allocations and addresses reproduced."""

    def columns(self) -> dict[str, Column]:
        """Return the columns of a table with one row a recording."""
        counts = {name: self.counts[:, k] for k, name in enumerate(_COUNTS)}
        return {"recording": self.names, "recorded_gib": self.recorded_gib, "replayed_gib": self.replayed_gib, **counts}


def recorded_against_replayed_data(runs: Results) -> RecordedAgainstReplayed:
    """Compute the reserved bytes at the peak as recorded and as replayed, and how much of the history came out, by
    recording.

    Raises
    ------
    InputError
        A point has no finished run, or nothing that was recorded to compare with.
    """
    seed = common_seed(runs, None, "recorded_against_replayed")
    names = ("recorded_reserved_peak_bytes", "reserved_peak_bytes", *_COUNTS)
    table = np.array([[runs.values(point, name).get(seed, np.nan) for name in names] for point in runs.points])
    if np.isnan(table).any():
        raise InputError(
            "recorded_against_replayed needs memory snapshots replayed as they were recorded: settings: recorded."
        )
    displayed = tuple(runs.label(point) for point in runs.points)
    return RecordedAgainstReplayed(displayed, table[:, 0] / GIB, table[:, 1] / GIB, table[:, 2:].astype(np.int64))


@on_paper
def draw_recorded_against_replayed(data: RecordedAgainstReplayed) -> Figure:
    """Draw a point a recording on the diagonal of what is equal; next to it the share of equal addresses."""
    from workbench.figures import plot_style

    figure, (plane, bars) = plot_style.stacked(2, (2.2, 0.4 + 0.22 * len(data.names)))
    both = np.concatenate([data.recorded_gib, data.replayed_gib])
    ends = 0.8 * float(both.min()), 1.25 * float(both.max())
    plane.plot(ends, ends, color=plot_style.palette().quiet, linewidth=0.8)
    plane.plot(data.recorded_gib, data.replayed_gib, "o", color=plot_style.palette().ink, markersize=3.5)
    plane.set(xscale="log", yscale="log", xlabel="recorded peak (GiB)", ylabel="replayed peak (GiB)")
    for side in (plane.xaxis, plane.yaxis):
        _plain_ticks(side, ends)
    _counts_bars(bars, data)
    return figure


def _counts_bars(bars: Axes, data: RecordedAgainstReplayed) -> None:
    """Draw a bar a recording, as long as the share of its addresses that came out, with the counts."""
    from workbench.figures import plot_style

    tones = plot_style.palette()
    places = np.arange(len(data.names))[::-1]
    share = 100 * data.counts[:, 3] / np.maximum(data.counts[:, 2], 1)
    bars.barh(places, share, color=tones.raised, edgecolor=tones.sizes[1], linewidth=0.8)
    for place, (segments, got, allocs, same) in zip(places, data.counts, strict=True):
        bars.text(2, place, f"{same:,}/{allocs:,}, segments {got:,}/{segments:,}", va="center", fontsize="small")
    bars.set_yticks(places, [name.removeprefix("trace=") for name in data.names])
    bars.set(xlim=(0, 100), xlabel="addresses reproduced (%)")


def _plain_ticks(side: Axis, ends: tuple[float, float]) -> None:
    """Put numbers such as 1, 2, 5, 10 along a logarithmic side."""
    from matplotlib.ticker import FixedLocator, NullLocator, StrMethodFormatter

    steps = [step * 10.0**power for power in range(-6, 7) for step in (1, 2, 5)]
    side.set_major_locator(FixedLocator([step for step in steps if ends[0] <= step <= ends[1]]))
    side.set_major_formatter(StrMethodFormatter("{x:g}"))
    side.set_minor_locator(NullLocator())


RECORDED_AGAINST_REPLAYED_FIGURE = recipe(
    "torch_allocator", recorded_against_replayed_data, draw_recorded_against_replayed
)
