"""A setting of a page in plain types: its values by path, its link, and the history of settings.

A link holds what differs from the setting that the page opens with: `machine.segments=256&seeds=7`.
"""

from __future__ import annotations

import copy
import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote

from workbench.errors import InputError

Setting = dict[str, Any]
_PLAIN = ":,[]{}"
"""What an address may hold without being escaped."""
MOST_SETTINGS = 500
"""Settings are kept; older ones are forgotten."""
DRAG_SECONDS = 1.0
"""Moves of one lever that follow each other so soon are one step."""


def differences(opening: Mapping[str, Any], setting: Mapping[str, Any], path: str = "") -> dict[str, Any]:
    """Return the differences of a setting from another one, by dotted path.

    Mappings of other keys differ as wholes: another policy is another value.

    >>> differences({"a": {"x": 1, "y": 2}, "b": {"z": 1}}, {"a": {"x": 1, "y": 3}, "b": {"w": 1}})
    {'a.y': 3, 'b': {'w': 1}}
    """
    result: dict[str, Any] = {}
    for key, value in setting.items():
        before, name = opening[key], f"{path}{key}"
        if isinstance(value, Mapping) and isinstance(before, Mapping) and value.keys() == before.keys():
            result |= differences(before, value, f"{name}.")
        elif value != before:
            result[name] = value
    return result


def as_link(different: Mapping[str, Any]) -> str:
    """Return differences as the part of an address behind its `#`.

    >>> as_link({"machine.segments": 256, "other.choice": "round_robin"})
    'machine.segments=256&other.choice=%22round_robin%22'
    """
    return "&".join(
        f"{path}={quote(json.dumps(value, separators=(',', ':')), _PLAIN)}" for path, value in different.items()
    )


def from_link(opening: Mapping[str, Any], link: str) -> dict[str, Any]:
    """Return the setting that a link names, on a page that opens with another.

    Raises
    ------
    InputError
        The link is none, or names what this page does not have.

    Examples
    --------
    >>> from_link({"machine": {"segments": 128}, "seeds": 20}, "machine.segments=256")
    {'machine': {'segments': 256}, 'seeds': 20}
    >>> from_link({"seeds": 20}, "sedes=3")
    Traceback (most recent call last):
    workbench.errors.InputError: the link names 'sedes', which this page does not have; nothing was changed.
    """
    setting = copy.deepcopy(dict(opening))
    for part in filter(None, link.split("&")):
        path, _, text = part.partition("=")
        _put(setting, unquote(path), _value(text, path))
    return setting


def path_of(value: Any, name: str) -> str | None:
    """Return the path of a key in plain types, the first of several; None where there is none.

    >>> path_of({"weighted": {"choices": [{"free": {}}, {"recent": {"nx": 64}}]}}, "nx")
    'weighted.choices[1].recent.nx'
    """
    if isinstance(value, Mapping):
        inner = [(f".{key}", one) for key, one in value.items()]
        if name in value:
            return name
    else:
        inner = [(f"[{place}]", one) for place, one in enumerate(value)] if isinstance(value, list) else []
    for step, one in inner:
        rest = path_of(one, name)
        if rest is not None:
            return f"{step}.{rest}".replace(".[", "[").lstrip(".")
    return None


def value_of(value: Any, name: str) -> Any:
    """Return the value of a key wherever it stands in plain types, the first of several; None where there is none."""
    path = path_of(value, name)
    return None if path is None else look_up(value, path)


def look_up(value: Any, path: str) -> Any:
    """Return the value at a path in plain types."""
    for step in _steps(path):
        value = value[step]
    return value


def put(value: Any, path: str, what: Any) -> Any:
    """Return plain types with something else at a path; what was given stays as it is.

    >>> put({"a": [{"b": 1}, {"b": 2}], "c": 3}, "a[1].b", 9)
    {'a': [{'b': 1}, {'b': 9}], 'c': 3}
    """
    result = node = copy.deepcopy(value)
    *parents, last = _steps(path)
    for step in parents:
        node = node[step]
    node[last] = what
    return result


def _steps(path: str) -> list[Any]:
    return [int(place) if place else key for key, place in re.findall(r"([^.\[\]]+)(?!\])|\[(\d+)\]", path)]


def _value(text: str, path: str) -> Any:
    try:
        return json.loads(unquote(text))
    except ValueError:
        raise InputError(f"the link gives {path!r} no value that can be read; nothing was changed.") from None


def _put(setting: dict[str, Any], path: str, value: Any) -> None:
    *parents, last = path.split(".")
    node: Any = setting
    for key in parents:
        node = node.get(key) if isinstance(node, dict) else None
    if not isinstance(node, dict) or last not in node:
        raise InputError(f"the link names {path!r}, which this page does not have; nothing was changed.")
    node[last] = value


class History:
    """A line of settings and where in it the page stands."""

    def __init__(self, first: Setting, clock: Callable[[], float] = time.monotonic) -> None:
        self._line, self._at, self._clock = [first], 0, clock
        self._turned: tuple[str, ...] = ()
        self._when = clock()

    @property
    def now(self) -> Setting:
        """Return the setting that the page has."""
        return self._line[self._at]

    @property
    def can_undo(self) -> bool:
        """Return whether there is an earlier setting."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Return whether there is a later one, from which `undo` came."""
        return self._at + 1 < len(self._line)

    def note(self, setting: Setting) -> None:
        """Put a setting at the end of the line; what was undone before is forgotten."""
        if setting == self.now:
            return
        turned, when = tuple(differences(self.now, setting)), self._clock()
        drags = turned == self._turned and when - self._when < DRAG_SECONDS and self.can_undo and not self.can_redo
        del self._line[self._at + (0 if drags else 1) :]
        self._line = [*self._line, setting][-MOST_SETTINGS:]
        self._at = len(self._line) - 1
        self._turned, self._when = turned, when

    def undo(self) -> Setting:
        """Go back by one setting, and return it."""
        self._at, self._turned = max(self._at - 1, 0), ()
        return self.now

    def redo(self) -> Setting:
        """Go forward by one setting, and return it."""
        self._at, self._turned = min(self._at + 1, len(self._line) - 1), ()
        return self.now
