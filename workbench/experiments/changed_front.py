"""Is the front that a sweep varies over another than when its folder was run?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.experiments.kept_front import PARTS, VARY, ZIP


def changed_front(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """Return a sentence where a front that two versions of a sweep vary over has other points in the later one.

    >>> def sweep(*rules):
    ...     return {"policy": {"placement": {"vary": [*rules], "zip": "front of tuned"}}}
    >>> changed_front(sweep("first_fit"), sweep("first_fit")) is None
    True
    >>> changed_front(sweep("first_fit", "best_fit"), sweep("best_fit", "last_fit"))
    'the front of tuned is another than when this folder was run: 1 point is new, 1 is gone.'
    """
    earlier, later = _points(before), _points(now)
    for name in earlier.keys() & later.keys():
        new = sum(point not in earlier[name] for point in later[name])
        gone = sum(point not in later[name] for point in earlier[name])
        if new or gone:
            counted = f"{new} point{' is' if new == 1 else 's are'} new, {gone} {'is' if gone == 1 else 'are'} gone"
            return f"the {name} is another than when this folder was run: {counted}."
    return None


def _points(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return, by the name of its zip, what each point of a front in a sweep says."""
    columns: dict[str, dict[str, list[Any]]] = {}
    for path, name, values in _columns({key: config.get(key) for key in PARTS}, ""):
        columns.setdefault(name, {})[path] = values
    return {name: [repr(row) for row in zip(*(by[path] for path in sorted(by)))] for name, by in columns.items()}


def _columns(node: Any, path: str) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield the choices of each front, at any depth: where they stand, the name of their zip, the values."""
    if isinstance(node, Mapping):
        name, values = str(node.get("zip", "")), node.get(VARY)
        if name.startswith(ZIP) and isinstance(values, list):
            yield path, name, values
        else:
            for key, inner in node.items():
                yield from _columns(inner, f"{path}.{key}")
    elif isinstance(node, list):
        for place, inner in enumerate(node):
            yield from _columns(inner, f"{path}[{place}]")
