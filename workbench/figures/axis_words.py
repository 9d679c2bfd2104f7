"""What a varied lever or a measure is called on axes and in titles: in the words of its declaration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from workbench.engines.engine import Setup
from workbench.levers import Lever, Spec
from workbench.metrics.measure import Measure
from workbench.units import is_count


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
    """Return a measure in words, its unit left out.

    >>> measure_words(Measure("wait_mean_cycles", "cycles", "lower", ""))
    'wait mean time'
    >>> measure_words(Measure("wait_p99_cycles[4]", "cycles", "lower", "", "priority 4"))
    'wait p99 time, priority 4'
    >>> measure_words(Measure("remote_access_mean_ns", "ns", "lower", ""))
    'remote access mean time'
    """
    stem = measure.stem.removesuffix("_cycles").removesuffix("_ns")
    return measure.told(stem.replace("_", " ") + (" time" if stem != measure.stem else ""))


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
