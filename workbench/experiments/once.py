"""Parts of setups that were read before: the alternatives of a grid have most of their parts in common."""

from __future__ import annotations

import marshal
from collections.abc import Callable
from typing import Any

Once = Callable[[str, Any, Callable[[Any], Any]], Any]
"""Of a part's name, what is said of it and what reads that: what came of it, perhaps remembered."""


def each_time(part: str, said: Any, read: Callable[[Any], Any]) -> Any:
    """Read a part anew."""
    return read(said)


class OncePerPart:
    """Remembers what came of plain values; a value that holds objects is read anew each time.

    >>> once, read = OncePerPart(), []
    >>> def length(said):
    ...     read.append(said)
    ...     return len(said)
    >>> [once("size", said, length) for said in ([1, 2], [1, 2], [1, 2.0], [object(), object()])]
    [2, 2, 2, 2]
    >>> len(read)
    3
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, bytes], Any] = {}

    def __call__(self, part: str, said: Any, read: Callable[[Any], Any]) -> Any:
        try:
            key = part, marshal.dumps(said, 2)
        except ValueError:
            return read(said)
        if key not in self._known:
            self._known[key] = read(said)
        return self._known[key]
