"""The paired differences of all seeds as a histogram, with their median and its interval."""

from __future__ import annotations

import math
from typing import Any

from workbench.dashboards.panels.canvas_widget import CanvasWidget, script
from workbench.dashboards.panels.measures_table import in_unit
from workbench.experiments.run_set import RunSet
from workbench.figures.savings import DrainDifference, drain_difference_data

_NOTHING: dict[str, Any] = {"words": "", "label": "", "edges": [], "counts": []}


class HistogramPanel(CanvasWidget):
    """Bars right of zero: seeds on which the other policy is better than the baseline."""

    _esm = script("histogram.js")

    def show(self, runs: RunSet, measure: str) -> None:
        """Show the differences of one measure."""
        self.put(histogram_scene(drain_difference_data(runs, measure)))

    def say(self, sentence: str) -> None:
        """Show a sentence instead: there is nothing to compare."""
        self.put({**_NOTHING, "words": sentence})


def histogram_scene(difference: DrainDifference) -> dict[str, Any]:
    """Return what the browser draws of one comparison."""
    (panel,) = difference.panels
    mean = panel.of.interval
    known = math.isfinite(mean.low)
    return {
        "words": words(difference),
        "label": difference.label,
        "edges": difference.edges.tolist(),
        "counts": panel.counts.tolist(),
        "tied": panel.tied,
        "most": 1.3 * max(int(panel.counts.max()), panel.tied),
        "mean": mean.mean,
        "low": mean.low if known else None,
        "high": mean.high if known else None,
    }


def words(difference: DrainDifference) -> str:
    """Return the result in a line; a share never stands without the word "undecided" where its interval holds zero."""
    (panel,) = difference.panels
    mean, saving = panel.of.interval, panel.of.saving.mean
    unit = f" {difference.unit}" if difference.unit and difference.unit != "bytes" else ""
    low, middle, high = (in_unit(value, difference.unit) for value in (mean.low, mean.mean, mean.high))
    limits = f" [{low}, {high}]" if math.isfinite(mean.low) else ""
    share = f" = {saving:.2%}" if math.isfinite(saving) else ""
    seeds = panel.better + panel.worse + panel.tied
    undecided = "" if mean.above(0) or mean.below(0) else f" (undecided at {seeds} seed{'s' * (seeds != 1)})"
    if seeds == 1:
        verdict = "the same" if panel.tied else difference.better if panel.better else difference.worse
        return f"{panel.of.name} against {panel.of.baseline}, one run: {verdict} by {middle}{unit}{share}{undecided}."
    counts = f"{difference.better} on {panel.better} seeds, {difference.worse} on {panel.worse}, tied on {panel.tied}"
    estimate = f"{panel.of.estimand} gain {middle}{limits}{unit}{share}{undecided}"
    return f"{panel.of.name} against {panel.of.baseline}: {estimate}; {counts}."
