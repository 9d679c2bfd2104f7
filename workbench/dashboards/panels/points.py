"""Points by two measures: what a sweep or the front of a study came to; a click chooses one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from workbench.dashboards.panels.canvas_widget import CanvasWidget, script


class PointsPanel(CanvasWidget):
    """A dot a point; the chosen one is filled, the arrow keys choose the next."""

    _esm = script("points.js")

    def __init__(self, picked: Callable[[int], None]) -> None:
        super().__init__()
        self._picked = picked
        self.on_msg(self._heard)

    def show(
        self,
        measures: Sequence[str],
        places: Sequence[Sequence[float]],
        names: Sequence[str],
        chosen: int,
        pale: Sequence[Sequence[float]] = (),
    ) -> None:
        """Show the points, and pale ones behind them that cannot be chosen; those without both values are left out of
        the picture."""
        kept = [k for k, place in enumerate(places) if all(map(math.isfinite, place))]
        behind = [[float(value) for value in place] for place in pale if all(map(math.isfinite, place))]
        points = [{"k": k, "x": places[k][0], "y": places[k][1], "name": names[k]} for k in kept]
        self.put({"x": measures[0], "y": measures[1], "points": points, "chosen": chosen, "pale": behind})

    def choose(self, place: int) -> None:
        """Fill another point."""
        if self.scene:
            self.put({**self.scene, "chosen": place})

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "pick":
            self._picked(int(message["k"]))
