"""Building much that stays, without the garbage collector walking over it again and again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Stop the search for cycles within this context; worth it where a hundred thousand objects are made and all kept.

    Planning 100,000 points spends a quarter of its time in the collector, which finds nothing to free.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()
