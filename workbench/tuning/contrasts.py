"""Two settings of a study against each other, seed by seed, and what the comparisons of a family show.

The workloads of a study are fixed: they are no sample. At each seed a measure has one value over all of them, the
geometric mean of a ratio measure and the mean of any other. The comparison of these values has a size alone. The word
"better" needs this size, and no workload on which the setting is worse.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from workbench.experiments.results import Results
from workbench.metrics.measure import Measure
from workbench.runs.run import PlannedPoint
from workbench.statistics import Interval, PairedComparison, Verdict, compare, judge, mean_interval
from workbench.statistics.comparisons import LEVEL, by_seed, planned_seeds
from workbench.statistics.quantities import least_text, sized
from workbench.statistics.sentences import said, shown
from workbench.statistics.verdict import MOST_SEEDS
from workbench.tuning.objectives import Objective, over_workloads

Key = TypeVar("Key", bound=Hashable)


class Contrast(NamedTuple):
    """One setting against another in one objective."""

    objective: Objective
    whole: PairedComparison
    """Over all workloads, of its size alone where there are several."""
    members: tuple[PairedComparison, ...]
    """On each workload, where there are several."""


class SettingRuns:
    """The runs of some settings on every workload of a study."""

    def __init__(self, runs: Results, workloads: Sequence[str]) -> None:
        """Take the names of the study's workloads, in order."""
        self.runs, self._workloads = runs, workloads

    def points(self, point: PlannedPoint) -> list[PlannedPoint]:
        """Return the points of a setting, one a workload in the order of the study."""
        return [point] if len(self._workloads) == 1 else self._by_setting[_setting(point)]

    @property
    def first_points(self) -> list[PlannedPoint]:
        """Return one point a setting, that on the first workload."""
        if len(self._workloads) == 1:
            return self.runs.points
        return [points[0] for points in self._by_setting.values()]

    @functools.cached_property
    def _by_setting(self) -> dict[str, list[PlannedPoint]]:
        known: dict[str, list[PlannedPoint]] = {}
        for point in self.runs.points:
            known.setdefault(_setting(point), []).append(point)
        return known

    def interval(self, point: PlannedPoint, measure: Measure) -> Interval:
        """Return the mean of a measure over seeds, with its 95 % interval.

        Failed runs are left out, and `n` says so. It is infinite where a value is, or where something was refused.
        """
        return mean_interval([v for v in self._values(point, measure).values() if not math.isnan(v)], level=LEVEL)

    def intervals(self, point: PlannedPoint, measure: Measure) -> list[Interval]:
        """Return the same on each workload."""
        return [SettingRuns(self.runs, self._workloads[:1]).interval(one, measure) for one in self.points(point)]

    def _values(self, point: PlannedPoint, measure: Measure) -> dict[int, float]:
        columns = [by_seed(self.runs, one, measure.name) for one in self.points(point)]
        return {seed: over_workloads([column[seed] for column in columns], measure) for seed in self.runs.seeds}

    def contrast(
        self, first: PlannedPoint, other: PlannedPoint, objective: Objective, names: tuple[str, str]
    ) -> Contrast:
        """Return the comparison of the second setting with the first in an objective."""
        sides = self.points(first), self.points(other)
        whole = self._compared(*sides, objective, names)
        if len(self._workloads) == 1:
            return Contrast(objective, whole, ())
        members = tuple(self._compared([a], [b], objective, names) for a, b in zip(*sides, strict=True))
        alone = whole._replace(p_direction=math.nan, wins=0, losses=0)
        return Contrast(objective, alone, members)

    def _compared(
        self, first: list[PlannedPoint], other: list[PlannedPoint], objective: Objective, names: tuple[str, str]
    ) -> PairedComparison:
        runs, measure = self.runs, objective.measure
        kept = SettingRuns(runs, self._workloads[: len(first)])
        return compare(
            kept._values(first[0], measure),
            kept._values(other[0], measure),
            names=names,
            better=objective.better,
            compared_by=measure.compared_by,
            least_effect=measure.least,
            level=LEVEL,
            planned=planned_seeds(runs, [*first, *other]),
            exact=len(runs.seeds) == 1 and all(map(runs.is_exact, [*first, *other])),
        )


def _setting(point: PlannedPoint) -> str:
    """Return the text of a point but for its workload."""
    identity = {key: value for key, value in point.setup.identity().items() if key != "workload"}
    return json.dumps(identity, sort_keys=True, default=str)


class Decided(NamedTuple):
    """A contrast with what it shows among all that it is corrected with."""

    contrast: Contrast
    verdict: Verdict
    members: tuple[Verdict, ...]

    @property
    def measure(self) -> Measure:
        """Return the measure of the objective, with the direction that the study tunes for."""
        objective = self.contrast.objective
        return objective.measure._replace(better=objective.better)

    @property
    def is_gain(self) -> bool:
        """Return whether the setting is shown to be better in some way."""
        return "better" in self.verdict.word

    @property
    def is_loss(self) -> bool:
        """Return whether the setting is shown to be worse in some way."""
        return "worse" in self.verdict.word

    @property
    def loses_somewhere(self) -> bool:
        """Return whether the setting is shown to be worse on one of several workloads."""
        return any("worse" in one.word for one in self.members)

    @property
    def size(self) -> str:
        """Return the size with its interval, as results print it."""
        return "" if self.verdict.of.is_same else sized(self.verdict.of, self.measure)

    @property
    def telling(self) -> str:
        """Return the number of seeds that would tell the least effect; nothing where none is declared.

        >>> wait = Objective(Measure("makespan_cycles", "cycles", "lower", "", compared_by="ratio"), "minimize")
        >>> paired = compare([100, 103, 99, 104], [101, 100, 100, 103], compared_by="ratio")
        >>> decide({"a": Contrast(wait, paired, ())})["a"].telling
        '35 seeds would tell 1 %'
        """
        one = self.verdict.of
        if one.least is None or one.n < 2:
            return ""
        needed, least = self.verdict.seeds_needed, least_text(self.measure, one.is_ratio)
        if needed is None:
            return f"no number within {MOST_SEEDS:,} seeds would tell {least}"
        return f"{needed:,} seeds {'would tell' if needed > one.n else 'would have told'} {least}"

    @property
    def line(self) -> str:
        """Return size, counts and word, as results print a comparison."""
        if not self.members:
            return ", ".join(filter(None, shown(self.verdict, self.measure)))
        better, worse = (sum(one.side == side for one in self.members) for side in ("better", "worse"))
        counts = f"better at {better}, worse at {worse} of {len(self.members)} workloads"
        return ", ".join(filter(None, [self.size, f"{counts}; {said(self.verdict, self.measure)}"]))

    def lines_by_workload(self, workloads: Sequence[str]) -> list[str]:
        """Return the same of each workload, where there are several."""
        lines = [", ".join(filter(None, shown(one, self.measure))) for one in self.members]
        return [f"{name}: {line}" for name, line in zip(workloads, lines, strict=False)]


def decide(contrasts: Mapping[Key, Contrast]) -> dict[Key, Decided]:
    """Return the result of each contrast, by Holm's correction over all of them and their workloads.

    Examples
    --------
    >>> wait = Objective(Measure("makespan_cycles", "cycles", "lower", "", compared_by="ratio"), "minimize")
    >>> slow, fast = [100 + k % 7 for k in range(20)], [95 + k % 5 for k in range(20)]
    >>> paired = compare(slow, fast, compared_by="ratio")
    >>> decide({"a": Contrast(wait, paired, ())})["a"].verdict.word
    'better'
    """
    family = {(key, place): one for key, it in contrasts.items() for place, one in enumerate((it.whole, *it.members))}
    over = {(key, 0): [(key, k + 1) for k in range(len(it.members))] for key, it in contrasts.items() if it.members}
    verdicts = judge(family, over=over)
    return {
        key: Decided(it, verdicts[key, 0], tuple(verdicts[key, k + 1] for k in range(len(it.members))))
        for key, it in contrasts.items()
    }
