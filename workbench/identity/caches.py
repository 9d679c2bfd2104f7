"""What functions of a user's keep of their own returns, given up once they would return something else."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from workbench.identity.snapshot import Snapshot, look

_filled: WeakKeyDictionary[Any, Snapshot] = WeakKeyDictionary()
"""Of each cached function, what it was when it was last known to keep nothing older."""


def empty_caches(taken: Snapshot) -> bool:
    """Empty the caches that a snapshot passed, unless their functions are what they were when they were last looked at.

    A cache that is met for the first time is emptied: nobody knows what it was filled by.
    """
    for cached in taken.caches:
        if not still(_filled, cached):
            cached.cache_clear()
    return False


def still(known: WeakKeyDictionary[Any, Snapshot], thing: Any) -> bool:
    """Return whether a thing is what it was when this was last asked; what it is now is noted."""
    before = known.get(thing)
    if before is not None and not before.changed():
        return True
    known[thing] = look(thing)
    return before is not None and before.digest == known[thing].digest
