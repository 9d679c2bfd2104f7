"""A setup on its way to another process: pickled once a point and opened once a worker, however many bundles go."""

from __future__ import annotations

import functools
import pickle
from collections import OrderedDict

from workbench.engines.engine import Setup
from workbench.errors import InputError
from workbench.experiments.by_value import dumped, pickler
from workbench.experiments.planned_code import name_of
from workbench.identity import current

KEPT = 64
"""How many pickled setups are kept at hand on either side."""


class Packer:
    """Packs setups; every class of the user's travels with its code and all that this refers to."""

    def __init__(self) -> None:
        pickler()
        self._packed: OrderedDict[str, bytes] = OrderedDict()

    def pack(self, point: str, setup: Setup) -> bytes:
        """Return a point's setup as it is pickled, once.

        Raises
        ------
        InputError
            Something that the user's code refers to cannot be sent to another process.
        """
        if point not in self._packed:
            self._packed[point] = _dumped(setup)
        self._packed.move_to_end(point)
        while len(self._packed) > KEPT:
            self._packed.popitem(last=False)
        return self._packed[point]


def _dumped(setup: Setup) -> bytes:
    try:
        return dumped(setup, [current(cls) for cls, _ in setup.code])
    except (TypeError, pickle.PicklingError) as problem:
        names = ", ".join(name_of(cls) for cls, _ in setup.code) or setup.engine
        raise InputError(f"{names} cannot be sent to another process: {problem}.") from None


def opened(pickled_setup: bytes) -> Setup:
    """Return the setup that was pickled; it is opened anew where a later one has changed its classes, which are the
    same ones."""
    setup = _opened(pickled_setup)
    if any(current(cls).digest != digest for cls, digest in setup.code):
        _opened.cache_clear()
        setup = _opened(pickled_setup)
    return setup


@functools.lru_cache(KEPT)
def _opened(pickled_setup: bytes) -> Setup:
    setup: Setup = pickle.loads(pickled_setup)
    return setup
