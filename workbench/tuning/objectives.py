"""What a study is tuned for: objectives, the bounds a trial must keep, and when a trial is given up.

- Objectives: measures with a direction each.
- Constraints: bounds on measures, `{wait_p99_cycles: {most: 5000}}`.
- Pruning: after a few seeds a trial may be given up, which saves the others. It is hopeless when one trial of the front
  is better in every objective, on every one of the seeds that both have run so far, each time by more than a margin.
  Seeds are paired, so no luck of a workload is in that comparison; and the front is the one at the start of the batch,
  so neither workers nor an interruption change who is given up. A trial that is given up has no values: nothing that is
  reported of the others rests on fewer seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from workbench.errors import InputError, at, nearest_name, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.levers import Spec, lever
from workbench.metrics.measure import Measure

Direction = Literal["minimize", "maximize"]

Costs = tuple[float, ...]
"""The values of all objectives, negated where more is better."""

_DIRECTIONS: dict[str, Direction] = {"lower": "minimize", "higher": "maximize"}
_NAMES = ("minimize", "maximize")


class Objective(NamedTuple):
    """One measure that is tuned for, in the mean over the seeds."""

    measure: Measure
    direction: Direction

    @property
    def better(self) -> Literal["lower", "higher"]:
        """Return the good direction of values, in the words of a measure."""
        return "lower" if self.direction == "minimize" else "higher"

    def cost(self, value: float) -> float:
        """Return the value, negated where more is better: less cost is always better.

        >>> Objective(Measure("pace", "", "higher", ""), "maximize").cost(3.0)
        -3.0
        """
        return value if self.direction == "minimize" else -value


def over_workloads(values: Sequence[float], measure: Measure) -> float:
    """Return one value of a measure over workloads at one seed: the geometric mean of ratios, the mean of others.

    It is infinite if a value is. It is NaN if one is missing, or if a ratio measure is 0 or negative.

    >>> wait = Measure("wait", "cycles", "lower", "")
    >>> over_workloads([2.0, 8.0], wait), over_workloads([2.0, 8.0], wait._replace(compared_by="ratio"))
    (5.0, 4.0)
    """
    if len(values) == 1 or not all(map(math.isfinite, values)):
        return sum(values)
    if measure.compared_by != "ratio":
        return math.fsum(values) / len(values)
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if min(values) > 0 else math.nan


def costs_of(values: Sequence[float], objectives: Sequence[Objective]) -> Costs:
    """Return the values of the objectives as costs."""
    return tuple(one.cost(value) for one, value in zip(objectives, values, strict=True))


def read_objectives(given: Any, sweep: Sweep, where: str) -> tuple[Objective, ...]:
    """Read the objectives of a study file: names, or `{measure: NAME, direction: minimize or maximize}`.

    Raises
    ------
    InputError
        A measure or a direction is unknown, or one is named twice.
    """
    if not isinstance(given, list) or not given:
        raise wrong_value(where, "objectives", "must be a list of at least one measure", given)
    objectives = tuple(_objective(one, f"objectives[{k}]", sweep, where) for k, one in enumerate(given))
    names = [one.measure.name for one in objectives]
    if len(set(names)) != len(names):
        raise wrong_value(where, "objectives", "must be different measures", names)
    return objectives


def known_measure(name: object, sweep: Sweep, where: str) -> Measure:
    """Return the measure of a name, or one sentence that guesses what was meant."""
    known = sweep.mechanism.measures
    if not isinstance(name, str) or name not in known:
        raise unknown_name(where, "measure", name, known)
    return known[name]._replace(least_effect=sweep.least_effect.get(name, known[name].least_effect))


def _objective(given: Any, path: str, sweep: Sweep, where: str) -> Objective:
    one = {"measure": given} if isinstance(given, str) else given
    if not isinstance(one, Mapping) or "measure" not in one:
        raise wrong_value(where, path, "must be a measure's name or {measure: , direction: }", given)
    for key in one:
        if key not in ("measure", "direction"):
            raise unknown_name(at(where, path), "key", key, ("measure", "direction"))
    measure = known_measure(one["measure"], sweep, at(where, path))
    return Objective(measure, _direction(one.get("direction", _DIRECTIONS.get(measure.better)), measure, path, where))


def _direction(given: Any, measure: Measure, path: str, where: str) -> Direction:
    if given in _NAMES:
        return "minimize" if given == "minimize" else "maximize"
    expected = f"must be minimize or maximize, for {measure.name} is neither better low nor high"
    plainly = "must be minimize or maximize"
    wanted = expected if given is None else plainly
    raise wrong_value(where, f"{path}.direction", wanted, given, nearest_name(given, _NAMES) if given else None)


_ENDS = ("least", "most")


class Constraint(NamedTuple):
    """Bounds on one measure, in the mean over the seeds; the bounds themselves are allowed."""

    measure: Measure
    least: float | None
    most: float | None

    def broken_by(self, value: float) -> dict[str, float]:
        """Return the excess of a value over each bound, as a share of the bound (of 1 where that is 0); at most 0 =
        kept.

        In shares, bounds of unlike units weigh alike in samplers that add them up.

        >>> Constraint(Measure("wait", "cycles", "lower", ""), None, 5000).broken_by(6000)
        {'wait at most 5000': 0.2}
        """
        name = self.measure.name
        excess = {}
        if self.least is not None:
            excess[f"{name} at least {self.least:g}"] = (self.least - value) / (abs(self.least) or 1.0)
        if self.most is not None:
            excess[f"{name} at most {self.most:g}"] = (value - self.most) / (abs(self.most) or 1.0)
        return excess

    def kept_by(self, value: float) -> bool:
        """Return whether a value is within the bounds; NaN is not."""
        return (self.least is None or value >= self.least) and (self.most is None or value <= self.most)

    def worst(self, means: Sequence[float]) -> float:
        """Return the mean that is farthest beyond the bounds, of those on several workloads; NaN where one is.

        >>> Constraint(Measure("wait", "cycles", "lower", ""), 10, 5000).worst([2000, 9, 4000])
        9
        """
        unknown = [mean for mean in means if math.isnan(mean)]
        return unknown[0] if unknown else max(means, key=lambda mean: max(self.broken_by(mean).values()))

    def plain(self) -> list[Any]:
        """Return the same in plain types."""
        return [self.measure.name, self.least, self.most]


def read_constraints(given: Any, sweep: Sweep, where: str) -> tuple[Constraint, ...]:
    """Read the constraints of a study file.

    Raises
    ------
    InputError
        A measure is unknown, or its bounds are none, no numbers, or in the wrong order.
    """
    if not isinstance(given, Mapping):
        raise wrong_value(where, "constraints", "must be a mapping of measures, {NAME: {most: }}", given)
    return tuple(_constraint(name, bounds, sweep, where) for name, bounds in given.items())


def _constraint(name: Any, bounds: Any, sweep: Sweep, where: str) -> Constraint:
    measure = known_measure(name, sweep, at(where, "constraints"))
    path = f"constraints.{name}"
    if not isinstance(bounds, Mapping) or not bounds:
        raise wrong_value(where, path, "must be {most: }, {least: } or both", bounds)
    for key in bounds:
        if key not in _ENDS:
            raise unknown_name(at(where, path), "key", key, _ENDS)
    least, most = (_bound(bounds[key], f"{path}.{key}", where) if key in bounds else None for key in _ENDS)
    if least is not None and most is not None and least > most:
        raise InputError(at(where, f"{path} leaves nothing: least is {least:g} and most is {most:g}."))
    return Constraint(measure, least, most)


def _bound(given: Any, path: str, where: str) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise wrong_value(where, path, "must be a number", given)
    return float(given)


class Pruning(Spec):
    """When trials are given up."""

    after: int = lever(2, least=1, most=1000, unit="seeds", description="seeds that every trial is run on")
    margin: float = lever(
        0.05,
        least=0,
        most=1000,
        description="by how much a trial of the front must be better, as a share of its own value",
    )


def read_pruning(given: Any, seeds: int, where: str) -> Pruning | None:
    """Read the rule of a study file: `true`, a mapping, or `false` for none.

    Raises
    ------
    InputError
        A lever is unknown, or no seeds would be left to save.
    """
    if given is False or given is None:
        return None
    rule = Pruning.read({} if given is True else given, "pruning", where)
    if rule.after >= seeds:
        raise wrong_value(where, "pruning.after", f"must be less than seeds ({seeds})", rule.after, max(seeds - 1, 1))
    return rule


def beaten_by(front: Mapping[int, Sequence[Costs]], costs: Sequence[Costs], margin: float) -> int | None:
    """Return the number of the trial of the front that makes another hopeless, None where there is none.

    Parameters
    ----------
    front : mapping
        By the number of each trial of the front, its costs on the seeds so far, one row a seed.
    costs : costs
        The same of the trial that is judged.

    Examples
    --------
    >>> front = {3: [(1.0, 2.0), (2.0, 2.0)]}
    >>> beaten_by(front, [(1.2, 2.5), (2.3, 2.5)], margin=0.1)
    3
    >>> beaten_by(front, [(1.2, 2.5), (2.1, 2.5)], margin=0.1)
    """
    for number, rows in front.items():
        if all(_clearly_better(a, b, margin) for a, b in zip(rows, costs, strict=True)):
            return number
    return None


def _clearly_better(one: Costs, other: Costs, margin: float) -> bool:
    return all(b - a > margin * abs(a) for a, b in zip(one, other, strict=True))
