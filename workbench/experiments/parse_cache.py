"""Parts of setups that were read before: the alternatives of a grid have most of their parts in common."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

PartReader = Callable[[str, Any, Callable[[Any], Any]], Any]
"""Map a part's name, its raw value and its parser to the parsed value, perhaps from a cache."""


def uncached(part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
    """Read a part anew."""
    return read(raw)


class ParseCache:
    """Caches parsed plain values; a value that holds objects is parsed anew each time.

    >>> cached, read = ParseCache(), []
    >>> def length(raw):
    ...     read.append(raw)
    ...     return len(raw)
    >>> [cached("size", raw, length) for raw in ([1, 2], [1, 2], [1, 2.0], [object(), object()])]
    [2, 2, 2, 2]
    >>> len(read)
    3
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Any] = {}

    def __call__(self, part: str, raw: Any, read: Callable[[Any], Any]) -> Any:
        try:
            key = part, marshal.dumps(raw, 2)
        except ValueError:
            return read(raw)
        if key not in self._known:
            self._known[key] = read(raw)
        return self._known[key]
