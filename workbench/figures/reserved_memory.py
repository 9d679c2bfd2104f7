"""Memory got from drivers over requests, above what is asked for (spec 5, H5.3, H5.8).

Of a pool over its requests, and likewise of PyTorch's allocator over a program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.experiments.results import Results
from workbench.figures._curves import Curve, Curves, Look, draw_curves
from workbench.figures.estimates import without_limits
from workbench.figures.panels import common_seed, drawn_panels
from workbench.figures.registry import Recipe
from workbench.metrics.pool import reserved
from workbench.records.pool import FREE_OF_REFUSED, NEVER_ASKED, RELEASED, PoolRecord
from workbench.runs.run import run_id

if TYPE_CHECKING:
    from matplotlib.axes import Axes


PLACES = 600
"""Requests that are looked at."""
MIB = 1 << 20
AREA = -1
"""The style of what is asked for, the first line of a panel."""


def _area_or_steps(axes: Axes, line: Curve, data: Curves) -> None:
    """Draw steps; what is asked for as a gray area below them."""
    from workbench.figures import marks, plot_style

    if line.style == AREA:
        axes.fill_between(
            line.x, line.means.mean, step="post", color=plot_style.palette().cached, linewidth=0, label=line.name
        )
    else:
        marks.step_line(axes, line.x, line.means, line.style, line.name)


def _from_zero(axes: Axes, lines: list[Curve], data: Curves) -> None:
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)


_RESERVED_LOOK = Look(mark=_area_or_steps, panel=_from_zero)


def _recipe_of_reserved(
    name: str,
    engine: str,
    description: str,
    needed: tuple[str, Callable[[Any], np.ndarray]],
    reserved_bytes: Callable[[Any], np.ndarray],
) -> Recipe:
    """Return the figure of what is reserved from drivers after every request of one run of every point.

    `needed` is what is asked for, the same in all runs of a panel: its name, and its bytes by request.
    """

    def data(runs: Results, seed: int | None = None) -> Curves:
        panels = drawn_panels(runs, name)
        chosen = common_seed(runs, seed, name)
        lines = list[Curve]()
        for place, panel in enumerate(panels):
            rows = [(line, runs.record(run_id(line.point.id, chosen))) for line in panel.lines]
            lines.append(_memory_line(place, needed[0], AREA, needed[1](rows[0][1])))
            lines += [_memory_line(place, line.name, line.style, reserved_bytes(record)) for line, record in rows]
        titles, note = tuple(panel.title for panel in panels), f"seed {chosen}"
        return Curves(
            "request", "request", ("mib",), "memory (MiB)", titles, tuple(lines), _RESERVED_LOOK, seed=chosen, note=note
        )

    return Recipe(name, engine, description, data, draw_curves)


def _memory_line(panel: int, name: str, style: int, size: np.ndarray) -> Curve:
    """Return the MiB after at most `PLACES` requests, evenly apart."""
    rows = np.unique(np.linspace(0, max(len(size) - 1, 0), PLACES).round().astype(np.int64))
    return Curve(panel, name, style, 1, rows, without_limits(size[rows] / MIB))


def _requested(record: PoolRecord) -> np.ndarray:
    """Return the memory of applications if no request was ever refused: it is the same under every policy."""
    is_released = np.isin(record.outcome, (RELEASED, FREE_OF_REFUSED, NEVER_ASKED)) & (record.allocation >= 0)
    size = record.asked[np.maximum(record.allocation, 0)]
    return np.where(record.action == 0, size, -size * is_released).cumsum()


def reserved_in_all(record: PoolRecord) -> np.ndarray:
    """Return the memory got from all drivers, after each request: int64[requests], bytes."""
    return np.asarray(reserved(record).sum(axis=0))


RESERVED_OVER_REQUESTS_FIGURE = _recipe_of_reserved(
    "reserved_over_requests",
    "pool",
    "Memory got from the drivers after every request of one run, by policy, above what is asked for.",
    ("asked for", _requested),
    reserved_in_all,
)

RESERVED_OVER_PROGRAM_FIGURE = _recipe_of_reserved(
    "reserved_over_program",
    "torch_allocator",
    "Memory got from the driver after every request of a program, by setting, above what is live.",
    ("live", lambda record: record.cards[0].live),
    lambda record: record.cards[0].reserved,
)
