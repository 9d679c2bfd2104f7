"""A setup on its way to another process: pickled once a point and opened once a worker, however many bundles go."""

from __future__ import annotations

import functools
import pickle
from collections import OrderedDict

from workbench.engines.engine import Setup
from workbench.errors import missing_extra

KEPT = 64
"""How many parcels are kept at hand on either side."""


class Packer:
    """Packs setups; policies from a notebook or from a file of one's own travel with their code."""

    def __init__(self) -> None:
        try:
            import cloudpickle
        except ImportError:
            raise missing_extra("running in other processes", "workers") from None
        self._dumps = cloudpickle.dumps
        self._packed: OrderedDict[str, bytes] = OrderedDict()

    def pack(self, point: str, setup: Setup) -> bytes:
        """The parcel of a point's setup."""
        if point not in self._packed:
            self._packed[point] = self._dumps(setup)
        self._packed.move_to_end(point)
        while len(self._packed) > KEPT:
            self._packed.popitem(last=False)
        return self._packed[point]


@functools.lru_cache(KEPT)
def opened(parcel: bytes) -> Setup:
    """The setup in a parcel."""
    setup: Setup = pickle.loads(parcel)
    return setup
