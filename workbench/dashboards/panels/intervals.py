"""A quantity of both sides at the places of an axis, with its intervals: by priority, by module, by number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.dashboards.panels.canvas_widget import CanvasWidget, script
from workbench.figures.estimates import Means

FAR_APART = 30
"""Where the highest mean is so many times the lowest, the axis of values is logarithmic."""

_NOTHING: dict[str, Any] = {"words": "", "lines": []}


class Side(NamedTuple):
    """The baseline (place 0) or the other (1)."""

    place: int
    x: np.ndarray
    means: Means


class IntervalsPanel(CanvasWidget):
    """Dots with their intervals, or lines with a band where there are many places."""

    _esm = script("intervals.js")

    def show(
        self, title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
    ) -> None:
        """Show both sides; with `doubling` the axis of places is logarithmic, `names` are those of places 0, 1, ..."""
        self.put(intervals_scene(title, x, y, sides, doubling, names))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to see."""
        self.put({**_NOTHING, "words": sentence})


def intervals_scene(
    title: str, x: str, y: str, sides: Sequence[Side], doubling: bool = False, names: Sequence[str] = ()
) -> dict[str, Any]:
    """Return what the browser draws."""
    means = np.concatenate([side.means.mean for side in sides])
    return {
        "words": "",
        "title": title,
        "x": x,
        "y": y,
        "log": bool(means.min() > 0 and means.max() >= FAR_APART * means.min()),
        "doubling": doubling,
        "names": list(names),
        "lines": [
            {
                "place": side.place,
                "x": side.x.tolist(),
                "mean": side.means.mean.tolist(),
                "low": _known(side.means.low),
                "high": _known(side.means.high),
            }
            for side in sides
        ],
    }


def _known(limits: np.ndarray) -> list[float | None]:
    return [limit if math.isfinite(limit) else None for limit in limits.tolist()]
