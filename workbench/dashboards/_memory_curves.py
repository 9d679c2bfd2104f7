"""Bytes over the events of a recording: recorded ones as full lines, replayed ones dashed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import traitlets

from workbench.dashboards._canvas import PickingWidget, column, script

POINTS = 1500
"""Points of a line at most: of each stretch of events the highest."""
_GIB, _MIB = 1 << 30, 1 << 20


class Line(NamedTuple):
    """One curve."""

    name: str
    bytes: np.ndarray
    """int64[events + 1], after each number of events."""
    colour: str
    dash: tuple[int, ...] = ()


class MemoryCurvesPanel(PickingWidget):
    """Lines, and the moment that is looked at; a click on the picture chooses another."""

    _esm = script("memory_curves.js")
    at = traitlets.Int(0).tag(sync=True)
    """After how many events the moment is."""

    def show(self, lines: list[Line]) -> None:
        """Show lines over the same events."""
        self.put(curves_scene(lines))


def curves_scene(lines: list[Line]) -> dict[str, Any]:
    """Return what the browser draws."""
    events = max((len(line.bytes) - 1 for line in lines), default=0)
    peak = max((int(line.bytes.max()) for line in lines), default=0)
    unit, word = (_GIB, "GiB") if peak >= _GIB else (_MIB, "MiB")
    return {
        "curves": [
            {
                "name": line.name,
                "value": column(highest(line.bytes) / unit),
                "colour": line.colour,
                "dash": list(line.dash),
            }
            for line in (lines if events else [])
        ],
        "events": events,
        "unit": word,
        "most": 1.08 * max(peak / unit, 1e-3),
    }


def highest(values: np.ndarray, points: int = POINTS) -> np.ndarray:
    """Return values, of very many the highest of each stretch; the first and the last stay.

    >>> highest(np.array([1, 9, 2, 4, 3]), 3).tolist()
    [1, 9, 3]
    """
    if len(values) <= points:
        return values
    inside = np.linspace(1, len(values) - 1, points - 1).astype(int)[:-1]
    peaks = np.maximum.reduceat(values[:-1], inside)
    return np.concatenate([values[:1], peaks, values[-1:]])
