"""Names of lines, levers and measures: what axes, titles and legends call them.

Levers and measures are called by the words of their declarations; a line by the policies and options that differ
within the sweep.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from workbench.engines.kit.engine import Setup
from workbench.experiments.results import Results
from workbench.levers import Lever, Spec
from workbench.metrics.measure import Measure
from workbench.number_text import as_written
from workbench.policies.policy import Policy
from workbench.runs.run import PlannedPoint
from workbench.units import is_count

_STATISTICS = {
    "mean": "mean",
    "max": "largest",
    "min": "least",
    "median": "median",
    "p50": "p50",
    "p90": "p90",
    "p95": "p95",
    "p99": "p99",
    "p999": "p99.9",
}
"""What a measure takes of many values, and how it is said in front of what it takes it of."""

_DURATIONS = ("wait", "latency", "delay", "time", "makespan", "span", "gap", "transfer", "reading")
"""What lasts by its own name."""


def words(name: str) -> str:
    """Return a name of the code as papers print it.

    >>> words("nearest_boundary(tie=high)")
    'nearest boundary (tie=high)'
    """
    return re.sub(r"(?<=\w)\(", " (", name.replace("_", " "))


def axis_label(path: str, setup: Setup) -> str:
    """Return the label of an axis that shows a lever: its name in words, and its unit or that of the lever that holds
    it.

    A path that leads to no declared lever gives its own last word.
    """
    levers = levers_on(path, setup)
    unit = next((lever.unit for lever in reversed(levers) if lever.unit), "")
    words = ", ".join(lever.name for lever in levers) or _last(path)
    return words.replace("_", " ") + (f" ({unit})" if unit else "")


def measure_words(measure: Measure) -> str:
    """Return a measure as a person would write it, its unit left out.

    >>> measure_words(Measure("wait_mean_cycles", "cycles", "lower", ""))
    'mean wait'
    >>> measure_words(Measure("wait_p99_cycles[4]", "cycles", "lower", "", "priority 4"))
    'p99 wait, priority 4'
    >>> measure_words(Measure("remote_access_mean_ns", "ns", "lower", ""))
    'mean remote access time'
    >>> measure_words(Measure("drain_cycles", "cycles", "lower", "")), measure_words(Measure("mean_queue", "", "", ""))
    ('drain time', 'mean queue')
    """
    parts = measure.stem.split("_")
    timed = next((part for part in ("cycles", "ns") if part in parts), None)
    words = [part for part in parts if part != timed and part not in _STATISTICS]
    first = [_STATISTICS[part] for part in parts if part in _STATISTICS]
    lasts = timed is not None and words[-1:] != [] and words[-1] not in _DURATIONS
    return measure.with_part(" ".join([*first, *words, *(["time"] if lasts else [])]))


def measure_label(measure: Measure) -> str:
    """Return the label of an axis that shows a measure."""
    return measure_words(measure) + (f" ({measure.unit})" if measure.unit else "")


def words_of(path: str, setup: Setup, value: Any) -> str:
    """Return a lever with its value, as titles and legends say it; nothing where the point has no such lever."""
    if value is None:
        return ""
    words = ", ".join(lever.name.replace("_", " ") for lever in levers_on(path, setup))
    return f"{words} = {as_written(value)}" if words else as_written(value)


def levers_on(path: str, setup: Setup) -> list[Lever]:
    """Return the declared levers along a dotted path of a sweep, outermost first.

    `workload.size.uniform[1]` passes `size` of the workload and `high` of the law, the second of those that may be
    written without their names; names of specs on the way (`uniform`) are no levers. One at the end of the path
    (`arrival.poisson_load`) is the one lever that may be written without its name.
    """
    key, *parts = re.findall(r"[^.\[\]]+", path)
    node: Any = setup.policies.get(parts.pop(0)) if key == "policy" and parts else getattr(setup, key, None)
    return list(_walk(node, parts))


def _walk(node: Any, parts: list[str]) -> Iterator[Lever]:
    for part in parts:
        name = _lever_name(node, part)
        if name is not None:
            yield node.levers[name]
            node = getattr(node, name)
    brief: tuple[str, ...] = getattr(node, "brief", ())
    if parts and isinstance(node, Spec) and node.name == parts[-1] and len(brief) == 1:
        yield node.levers[brief[0]]


def _lever_name(node: Any, part: str) -> str | None:
    if not isinstance(node, Spec):
        return None
    brief = getattr(node, "brief", ())
    name = brief[int(part)] if is_count(part) and int(part) < len(brief) else part
    return name if name in node.levers else None


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def outermost(paths: list[str]) -> list[str]:
    """Return the paths of choices that no other of them holds.

    >>> outermost(["policy.choice", "policy.choice.sum[1].nx", "workload.size"])
    ['policy.choice', 'workload.size']
    """
    return [one for one in paths if not any(one.startswith((f"{other}.", f"{other}[")) for other in paths)]


class LineNames:
    """The names of a sweep's points, machine and workload left out: those name panels.

    A policy is told with the levers that are not everywhere at their defaults, so that `fifo_lookahead(k=4)` does not
    lose its k among others; a sweep that varies neither policy nor option tells the policy of its first question.
    """

    def __init__(self, runs: Results, excluded: str | None = None) -> None:
        """Leave out `excluded`, the path of a varied lever that names leave out, because an axis shows it."""
        used: dict[tuple[str, str], list[Policy]] = {}
        for point in runs.points:
            for slot, policy in point.setup.policies.items():
                used.setdefault((slot, policy.name), []).append(policy)
        self._excluded = excluded
        self._levers = {key: _levers_off_default(key[0], policies, excluded) for key, policies in used.items()}
        self._options = [path for path in runs.varied if path.startswith("options.") and path != excluded]
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
        holds = (self._excluded or "").startswith(f"policy.{slot}.{policy.name}.{name}.")
        return str(value.name) if holds else policy.levers[name].shortly(value)


def _levers_off_default(slot: str, policies: list[Policy], excluded: str | None) -> list[str]:
    """Return the levers that are not at their default everywhere."""
    first = policies[0]
    return [
        name
        for name, lever in first.levers.items()
        if f"policy.{slot}.{first.name}.{name}" != excluded and any(getattr(p, name) != lever.default for p in policies)
    ]
