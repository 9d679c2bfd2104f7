"""A setup on its way to another process: pickled once a point and opened once a worker, however many bundles go."""

from __future__ import annotations

import functools
import io
import pickle
import sys
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from workbench.compiled.versions import name_by_digest
from workbench.engines.engine import Setup
from workbench.errors import InputError, missing_extra
from workbench.identity import Snapshot, current

KEPT = 64
"""How many parcels are kept at hand on either side."""


class Packer:
    """Packs setups; every class of the user's travels with its code and all that this refers to.

    A worker could import a module of the user's, but perhaps as another file, or as the file has become since.
    """

    def __init__(self) -> None:
        try:
            import cloudpickle
        except ImportError:
            raise missing_extra("running in other processes", "workers") from None
        self._cloudpickle: Any = cloudpickle
        self._packed: OrderedDict[str, bytes] = OrderedDict()

    def pack(self, point: str, setup: Setup) -> bytes:
        """The parcel of a point's setup.

        Raises
        ------
        InputError
            Something that the user's code refers to cannot be sent to another process.
        """
        if point not in self._packed:
            self._packed[point] = self._dumped(setup)
        self._packed.move_to_end(point)
        while len(self._packed) > KEPT:
            self._packed.popitem(last=False)
        return self._packed[point]

    def _dumped(self, setup: Setup) -> bytes:
        taken = [current(cls) for cls, _ in setup.code]
        name_by_digest(helper for one in taken for helper in one.compiled)
        with self._by_value({name for one in taken for name in one.modules}):
            try:
                return _dumped(self._cloudpickle, setup, taken)
            except (TypeError, pickle.PicklingError) as problem:
                names = ", ".join(cls.name for cls, _ in setup.code) or setup.engine
                raise InputError(f"{names} cannot be sent to another process: {problem}.") from None

    @contextmanager
    def _by_value(self, names: set[str]) -> Iterator[None]:
        """Within this, what modules of the user's define is sent as it is in memory."""
        before = self._cloudpickle.list_registry_pickle_by_value()
        new = [sys.modules[name] for name in names if name in sys.modules and name not in (*before, "__main__")]
        for module in new:
            self._cloudpickle.register_pickle_by_value(module)
        try:
            yield
        finally:
            for module in new:
                self._cloudpickle.unregister_pickle_by_value(module)


def _dumped(cloudpickle: Any, setup: Setup, taken: list[Snapshot]) -> bytes:
    """Pickle a setup; of a module of the user's that code reads attributes of, these attributes alone."""

    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if not isinstance(value, ModuleType) or not any(value.__name__ in one.modules for one in taken):
                return super().reducer_override(value)
            read = {name for one in taken for name in one.modules.get(value.__name__, ()) if not name.startswith("__")}
            return ModuleType, (value.__name__,), {name: vars(value)[name] for name in read if name in vars(value)}

    stream = io.BytesIO()
    Pickler(stream).dump(setup)
    return stream.getvalue()


@functools.lru_cache(KEPT)
def opened(parcel: bytes) -> Setup:
    """The setup in a parcel."""
    setup: Setup = pickle.loads(parcel)
    return setup
