"""How legends name points: by the policies and options that differ within the sweep."""

from __future__ import annotations

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.figures.axis_words import words_of
from workbench.policies.policy import Policy


class LineNames:
    """The names of a sweep's points, machine and workload left out: those name panels.

    A policy is told with the levers that are not everywhere at their defaults, so that `fifo_lookahead(k=4)` does not
    lose its k among others; a sweep that varies neither policy nor option tells the policy of its first question.
    """

    def __init__(self, runs: RunSet, apart: str | None = None) -> None:
        """Leave out `apart`, the path of a varied lever that is not told, because an axis shows it."""
        used: dict[tuple[str, str], list[Policy]] = {}
        for point in runs.points:
            for slot, policy in point.setup.policies.items():
                used.setdefault((slot, policy.name), []).append(policy)
        self._apart = apart
        self._levers = {key: _told(key[0], policies, apart) for key, policies in used.items()}
        self._options = [path for path in runs.varied if path.startswith("options.") and path != apart]
        slots = list(dict.fromkeys(slot for slot, _ in used))
        self._slots = [slot for slot in slots if len({self._policy(p, slot) for p in runs.points}) > 1] or slots[:1]

    def of(self, point: PlannedPoint) -> str:
        """Return the name of a point, as sweeps write policies: `nearest_boundary(tie=high), fifo_lookahead(k=4)`."""
        policies = [self._policy(point, slot) for slot in self._slots]
        options = [words_of(path, point.setup, point.coordinates.get(path)) for path in self._options]
        return ", ".join([*policies, *options])

    def _policy(self, point: PlannedPoint, slot: str) -> str:
        policy = point.setup.policies[slot]
        levers = self._levers[slot, policy.name]
        inside = ", ".join(f"{name}={self._value(policy, slot, name)}" for name in levers)
        return f"{policy.name}({inside})" if inside else policy.name

    def _value(self, policy: Policy, slot: str, name: str) -> str:
        """Return a lever's value; of a part with the varied lever inside, its name alone."""
        value = getattr(policy, name)
        holds = (self._apart or "").startswith(f"policy.{slot}.{policy.name}.{name}.")
        return str(value.name) if holds else policy.levers[name].shortly(value)


def _told(slot: str, policies: list[Policy], apart: str | None) -> list[str]:
    """Return the levers that are not at their default everywhere."""
    first = policies[0]
    return [
        name
        for name, lever in first.levers.items()
        if f"policy.{slot}.{first.name}.{name}" != apart and any(getattr(p, name) != lever.default for p in policies)
    ]
