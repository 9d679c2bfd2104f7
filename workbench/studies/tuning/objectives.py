"""What is tuned for: measures with a direction each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from workbench.errors import at, nearest_name, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
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
        """Return which values are good, in the words of a measure."""
        return "lower" if self.direction == "minimize" else "higher"

    def cost(self, value: float) -> float:
        """Return the value, negated where more is better: less cost is always better.

        >>> Objective(Measure("pace", "", "higher", ""), "maximize").cost(3.0)
        -3.0
        """
        return value if self.direction == "minimize" else -value


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
    return known[name]


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
