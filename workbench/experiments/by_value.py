"""Pickles in which the user's modules come along as they are in memory.

A worker could import a module of the user's, but perhaps as another file, or as the file has become since. What
Numba compiles is sent as functions are: by name where its module can be imported, else as what it was written as, and
a process that interprets (`NUMBA_DISABLE_JIT=1`) gets that as its kernels are there: plain functions.
"""

from __future__ import annotations

import functools
import io
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from workbench.compiled.versions import is_compiled, name_by_digest, pickled
from workbench.errors import missing_extra
from workbench.identity import Snapshot
from workbench.identity.owners import owner_of

_LOCKS = (type(threading.Lock()), type(threading.RLock()))


_CACHED = type(functools.lru_cache(len))


def _cached_again(function: Any, most: int | None, typed: bool) -> Any:
    """Return a function that keeps what it returns, with nothing kept yet."""
    return functools.lru_cache(most, typed)(function)


def pickler() -> Any:
    """Return the package that pickles code.

    Raises
    ------
    WorkbenchError
        It is not installed.
    """
    try:
        import cloudpickle
    except ImportError:
        raise missing_extra("running in other processes", "workers") from None
    return cloudpickle


def dumped(value: Any, taken: Sequence[Snapshot]) -> bytes:
    """Pickle a value with the user's code in it; of a module that code reads attributes of, these attributes alone.

    Parameters
    ----------
    taken : sequence of Snapshot
        Of all code of the user's that the value refers to.

    Raises
    ------
    TypeError, pickle.PicklingError
        Something in it cannot be pickled.
    """
    cloudpickle = pickler()
    name_by_digest(helper for one in taken for helper in one.compiled)
    stream = io.BytesIO()
    with _by_value(cloudpickle, {name for one in taken for name in one.modules}):
        _pickler(cloudpickle, taken)(stream).dump(value)
    return stream.getvalue()


def _pickler(cloudpickle: Any, taken: Sequence[Snapshot]) -> Any:
    class Pickler(cloudpickle.Pickler):
        def reducer_override(self, value: Any) -> Any:
            if isinstance(value, _LOCKS):  # a lock guards what one process does
                return (threading.Lock if isinstance(value, _LOCKS[0]) else threading.RLock), ()
            if isinstance(value, _CACHED) and owner_of(value.__module__) == "user":
                parameters = value.cache_parameters()
                return _cached_again, (value.__wrapped__, parameters["maxsize"], parameters["typed"])
            if is_compiled(value):
                return pickled(value, cloudpickle.list_registry_pickle_by_value())
            if not isinstance(value, ModuleType) or not any(value.__name__ in one.modules for one in taken):
                return super().reducer_override(value)
            read = {name for one in taken for name in one.modules.get(value.__name__, ()) if not name.startswith("__")}
            return ModuleType, (value.__name__,), {name: vars(value)[name] for name in read if name in vars(value)}

    return Pickler


@contextmanager
def _by_value(cloudpickle: Any, names: set[str]) -> Iterator[None]:
    """Send what modules of the user's define, within this context, as it is in memory."""
    before = cloudpickle.list_registry_pickle_by_value()
    new = [sys.modules[name] for name in names if name in sys.modules and name not in (*before, "__main__")]
    for module in new:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in new:
            cloudpickle.unregister_pickle_by_value(module)
