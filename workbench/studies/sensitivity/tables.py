"""A sensitivity study as tables: one row a lever, one row a pair of levers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from workbench.experiments.designs import Morris, Saltelli
from workbench.experiments.run_set import RunSet
from workbench.studies.sensitivity.analyse import Analysis, check
from workbench.studies.sensitivity.effects import Effects
from workbench.studies.sensitivity.estimates import Estimates
from workbench.studies.sensitivity.undecided import undecided

if TYPE_CHECKING:
    import pandas as pd


class Sensitivity:
    """What the measures of a study depend on."""

    def __init__(self, results: RunSet, analysis: list[Analysis]) -> None:
        self.results = results
        """The runs behind it, as of any sweep."""
        self.found = analysis
        """One analysis a measure and way to run."""

    @functools.cached_property
    def table(self) -> pd.DataFrame:
        """Return one row a lever: way, measure, of, lever, and

        - of `saltelli`: first, first_low, first_high, total, total_low, total_high, shares of the variance;
        - of `morris`: mean_size, mean_size_low, mean_size_high, mean, spread, in the measure's unit.
        """
        import pandas as pd

        return pd.DataFrame([row for one in self.found for row in _levers(one)])

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """Return one row a pair of levers: way, measure, of, lever, with, second, second_low, second_high; empty where
        pairs were not estimated."""
        import pandas as pd

        columns = ["way", "measure", "of", "lever", "with", "second", "second_low", "second_high"]
        return pd.DataFrame([row for one in self.found for row in _pairs(one)], columns=columns)

    @functools.cached_property
    def undecided(self) -> list[str]:
        """Return a sentence a lever whose interval is wider than its effect, with the samples to raise the design
        to."""
        design = check(self.results.plan.sweep).design
        assert isinstance(design, (Saltelli, Morris))
        return [sentence for one in self.found for sentence in undecided(one, design)]


def _levers(one: Analysis) -> Iterator[dict[str, Any]]:
    for k, path in enumerate(one.paths):
        row = {**_head(one), "lever": path}
        if isinstance(one.found, Effects):
            effects = one.found
            yield {
                **row,
                **_sides("mean_size", effects.mean_size, k),
                "mean": float(effects.mean[k]),
                "spread": float(effects.spread[k]),
            }
        else:
            yield {**row, **_sides("first", one.found.first, k), **_sides("total", one.found.total, k)}


def _pairs(one: Analysis) -> Iterator[dict[str, Any]]:
    second = None if isinstance(one.found, Effects) else one.found.second
    if second is not None:
        for i, j in itertools.combinations(range(len(one.paths)), 2):
            yield {**_head(one), "lever": one.paths[i], "with": one.paths[j], **_sides("second", second, (i, j))}


def _head(one: Analysis) -> dict[str, Any]:
    return {"way": one.way, "measure": one.measure.name, "of": one.of}


def _sides(name: str, estimates: Estimates, place: Any) -> dict[str, float]:
    return {
        name: float(estimates.value[place]),
        f"{name}_low": float(estimates.low[place]),
        f"{name}_high": float(estimates.high[place]),
    }
