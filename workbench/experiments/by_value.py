"""Pickles in which the user's modules come along as they are in memory.

A worker could import a module of the user's, but perhaps as another file, or as the file has become since. What
Numba compiles is sent as functions are: by name where its module can be imported, else as what it was written as, and
a process that interprets (`NUMBA_DISABLE_JIT=1`) gets that as its kernels are there: plain functions.
"""

from __future__ import annotations

import enum
import functools
import io
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import msgspec

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
                reduced = super().reducer_override(value)
                return _with_slots(value, reduced) if isinstance(value, type) else reduced
            read = {name for one in taken for name in one.modules.get(value.__name__, ()) if not name.startswith("__")}
            return ModuleType, (value.__name__,), {name: vars(value)[name] for name in read if name in vars(value)}

    return Pickler


def _with_slots(cls: type, reduced: Any) -> Any:
    """Return how a class is made again, with its slots or the fields of a struct: cloudpickle leaves them out."""
    if (
        not isinstance(reduced, tuple)
        or "__slots__" not in vars(cls)
        or isinstance(cls, enum.EnumMeta)
        or issubclass(cls, tuple)
    ):
        return reduced
    make, (kind, name, bases, space, *more), *rest = reduced
    if isinstance(cls, msgspec.StructMeta):
        names = dict(zip(cls.__struct_fields__, cls.__struct_encode_fields__, strict=True))
        own = [name for name in names if name in vars(cls)]
        defaults = zip(reversed(names), reversed(cls.__struct_defaults__))
        values = {name: (hasattr(one, "factory"), getattr(one, "factory", one)) for name, one in defaults}
        options = {name: getattr(cls.__struct_config__, name) for name in _OPTIONS}
        options |= {"rename": names, "kw_only": not {*own} <= {*cls.__match_args__}}
        fields = {name: values.get(name, (False, msgspec.NODEFAULT)) for name in own}
        kind = functools.partial(_struct, kind, fields, "__post_init__" in vars(cls), options)
    else:
        space = {**space, "__slots__": vars(cls)["__slots__"]}
    return make, (kind, name, bases, space, *more), *rest


_OPTIONS = (
    *("array_like", "cache_hash", "dict", "eq", "forbid_unknown_fields", "frozen", "gc", "omit_defaults", "order"),
    *("repr_omit_defaults", "tag", "tag_field", "weakref"),
)
"""What a struct says of itself beside its fields."""


def _struct(
    kind: Any,
    fields: Mapping[str, Any],
    is_checked: bool,
    options: Mapping[str, Any],
    name: str,
    bases: Any,
    space: Any,
) -> Any:
    """Return a struct with fields: of each whether its default is made by a call, and the default; all else is set
    later."""
    given = {one: pair for one, pair in fields.items() if pair[1] is not msgspec.NODEFAULT}
    space |= {one: msgspec.field(default_factory=it) if called else it for one, (called, it) in given.items()}
    checked = {"__post_init__": _post_init} if is_checked else {}
    return kind(name, bases, {**space, **checked, "__annotations__": dict.fromkeys(fields, Any)}, **options)


def _post_init(struct: Any) -> None:
    """Call what a struct does once its fields are set, which it is given after it is made."""
    type(struct).__post_init__(struct)


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
