"""Small multiples: the paired differences of several policies from one baseline, on one axis; a click chooses one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from workbench.dashboards.panels.canvas_widget import CanvasWidget, script
from workbench.dashboards.panels.measures_table import in_unit
from workbench.figures.savings import DrainDifference, Histogram


class MultiplesPanel(CanvasWidget):
    """A histogram a policy, with its mean and interval, from the best mean to the worst."""

    _esm = script("multiples.js")

    def __init__(self, picked: Callable[[int], None]) -> None:
        super().__init__()
        self._picked = picked
        self.on_msg(self._heard)

    def show(self, difference: DrainDifference, order: list[int]) -> None:
        """Show the panels of a comparison; `order` is what each is called when it is picked."""
        self.put(multiples_scene(difference, order))

    def clear(self) -> None:
        """Show nothing."""
        self.put({"panels": [], "edges": [], "label": ""})

    def _heard(self, _widget: object, message: dict[str, Any], _pieces: object) -> None:
        if message.get("what") == "pick":
            self._picked(int(message["k"]))


def multiples_scene(difference: DrainDifference, order: list[int]) -> dict[str, Any]:
    """Return what the browser draws: the best first."""
    ordered = sorted(zip(order, difference.panels, strict=True), key=lambda one: -one[1].of.interval.mean)
    return {
        "label": difference.label,
        "edges": difference.edges.tolist(),
        "most": 1.25 * max(int(max(panel.counts.max(), panel.tied)) for _, panel in ordered),
        "panels": [_panel(k, panel, difference.unit) for k, panel in ordered],
    }


def _panel(k: int, panel: Histogram, unit: str) -> dict[str, Any]:
    mean = panel.of.interval
    known = math.isfinite(mean.low)
    return {
        "k": k,
        "name": panel.of.name,
        "words": _words(panel, unit),
        "counts": panel.counts.tolist(),
        "tied": panel.tied,
        "mean": mean.mean,
        "low": mean.low if known else None,
        "high": mean.high if known else None,
    }


def _words(panel: Histogram, unit: str) -> str:
    """Return the estimate with its interval; "undecided" where that holds zero."""
    mean = panel.of.interval
    low, middle, high = (in_unit(value, unit) for value in (mean.low, mean.mean, mean.high))
    limits = f" [{low}, {high}]" if math.isfinite(mean.low) else ""
    return f"{middle}{limits}{'' if mean.above(0) or mean.below(0) else ' undecided'}"
