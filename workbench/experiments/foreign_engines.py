"""Engines that are not part of this package, on their way to workers: those that a notebook or a script entered."""

from __future__ import annotations

import functools
import pickle

from workbench.experiments.mechanism import enter, is_built_in, mechanism


def packed(engine: str) -> list[bytes]:
    """Return the mechanism of an engine pickled with its code; nothing for one that every worker has."""
    if is_built_in(engine):
        return []
    import cloudpickle

    return [cloudpickle.dumps(mechanism(engine))]


@functools.lru_cache(8)
def enter_packed(engine: bytes) -> None:
    """Enter a mechanism that came from the driver; the same one once."""
    enter(pickle.loads(engine))
