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
"""How many parcels are kept at hand on either side."""


class Packer:
    """Packs setups; every class of the user's travels with its code and all that this refers to."""

    def __init__(self) -> None:
        pickler()
        self._packed: OrderedDict[str, bytes] = OrderedDict()

    def pack(self, point: str, setup: Setup) -> bytes:
        """The parcel of a point's setup.

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


def opened(parcel: bytes) -> Setup:
    """The setup in a parcel; opened anew where a later parcel has changed its classes, which are the same ones."""
    setup = _opened(parcel)
    if any(current(cls).digest != digest for cls, digest in setup.code):
        _opened.cache_clear()
        setup = _opened(parcel)
    return setup


@functools.lru_cache(KEPT)
def _opened(parcel: bytes) -> Setup:
    setup: Setup = pickle.loads(parcel)
    return setup
