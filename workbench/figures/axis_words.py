"""What a varied lever or a measure is called on axes and in titles: in the words of its declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from workbench.engines.engine import Setup
from workbench.levers import Lever, Spec
from workbench.metrics.measure import Measure
from workbench.units import is_count

_STATISTICS = {"mean": "mean", "max": "largest", "min": "least", "median": "median", "p50": "p50", "p90": "p90"}
_STATISTICS |= {"p95": "p95", "p99": "p99", "p999": "p99.9"}
"""What a measure takes of many values, and how it is said in front of what it takes it of."""
_DURATIONS = ("wait", "latency", "delay", "time", "makespan", "span", "gap", "transfer", "reading")
"""What lasts by its own name."""


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
    return measure.told(" ".join([*first, *words, *(["time"] if lasts else [])]))


def measure_label(measure: Measure) -> str:
    """Return the label of an axis that shows a measure."""
    return measure_words(measure) + (f" ({measure.unit})" if measure.unit else "")


def words_of(path: str, setup: Setup, value: Any) -> str:
    """Return a lever with its value, as titles and legends say it; nothing where the point has no such lever."""
    if value is None:
        return ""
    words = ", ".join(lever.name.replace("_", " ") for lever in levers_on(path, setup))
    return f"{words} = {value}" if words else str(value)


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
