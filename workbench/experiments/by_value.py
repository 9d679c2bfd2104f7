"""Pickles in which the user's modules come along as they are in memory.

A worker could import a module of the user's, but perhaps as another file, or as the file has become since. What
Numba compiles is sent as functions are: by name where its module can be imported, else as what it was written as, and
a process that interprets (`NUMBA_DISABLE_JIT=1`) gets that as its kernels are there: plain functions.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from numba.core.dispatcher import Dispatcher

from workbench.compiled import INTERPRETED
from workbench.compiled.versions import name_by_digest
from workbench.errors import missing_extra
from workbench.identity import Snapshot


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
            if isinstance(value, Dispatcher):
                return _compiled(value, cloudpickle.list_registry_pickle_by_value())
            if not isinstance(value, ModuleType) or not any(value.__name__ in one.modules for one in taken):
                return super().reducer_override(value)
            read = {name for one in taken for name in one.modules.get(value.__name__, ()) if not name.startswith("__")}
            return ModuleType, (value.__name__,), {name: vars(value)[name] for name in read if name in vars(value)}

    return Pickler


def _compiled(value: Any, sent: Collection[str]) -> tuple[Any, tuple[Any, ...]]:
    """Return how a compiled function is pickled: its module and name, or what it is made of where the module is sent
    itself."""
    module = sys.modules.get(value.__module__)
    if module is None or value.__module__ in ("__main__", *sent) or getattr(module, value.__name__, None) is not value:
        return _made_here, (type(value), value._reduce_states())
    return getattr, (module, value.__name__)


def _made_here(kind: Any, states: dict[str, Any]) -> Any:
    """Return a compiled function as this process has them: where nothing is compiled, the one that was written."""
    return states["py_func"] if INTERPRETED else kind._rebuild(**states)


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
