"""What a trial must keep to be worth anything: bounds on measures, `{wait_p99_cycles: {most: 5000}}`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.metrics.measure import Measure
from workbench.studies.tuning.objectives import known_measure

_ENDS = ("least", "most")


class Constraint(NamedTuple):
    """Bounds on one measure, in the mean over the seeds; the bounds themselves are allowed."""

    measure: Measure
    least: float | None
    most: float | None

    def broken_by(self, value: float) -> dict[str, float]:
        """Return how far a value is beyond each bound, as a share of the bound (of 1 where that is 0); at most 0 =
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
