"""How each kind of value is written down: numbers and texts as they are, arrays by bytes, objects by their parts."""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.identity.guards import MISSING
from workbench.identity.owners import owner_of
from workbench.identity.refused import is_random

if TYPE_CHECKING:
    from workbench.identity.walk import Walk

_NUMBA_OPTIONS = ("boundscheck", "debug", "error_model", "fastmath", "forceobj", "looplift", "parallel")
"""The options of a compiled function that can change what it returns."""


def other_value(walk: Walk, value: Any) -> None:
    """Write down a value whose kind has no entry of its own in `VALUES`."""
    kind = type(value)
    if value is MISSING:
        walk.put("missing")
    elif callable(getattr(kind, "__identity__", None)):
        walk.value(value.__identity__())
    elif kind.__module__.partition(".")[0] == "numba":
        _numba_value(walk, value)
    elif isinstance(value, enum.Enum):
        walk.put("member", value.name)
        walk.value(kind)
    elif isinstance(value, np.generic):
        walk.put("scalar", f"{value.dtype.str}{value.tobytes().hex()}")
    elif isinstance(value, np.ufunc):
        walk.named("numpy", value.__name__)
    elif is_random(value) or hasattr(kind, "__next__"):
        _undigestible(walk, value)
    else:
        _object(walk, value)


def _text(kind: str, shown: Callable[[Any], str]) -> Callable[[Walk, Any], None]:
    return lambda walk, value: walk.put(kind, shown(value))


def _items(walk: Walk, values: Any) -> None:
    walk.put(type(values).__name__, str(len(values)))
    for value in values:
        walk.value(value)


def _mapping(walk: Walk, values: Mapping[Any, Any]) -> None:
    walk.put("dict", str(len(values)))
    for key, value in values.items():
        walk.value(key)
        walk.inside(str(key), walk.value, value)


def _set(walk: Walk, values: Any) -> None:
    walk.put(type(values).__name__, " ".join(sorted(walk.alone(value) for value in values)))


def _array(walk: Walk, array: Any) -> None:
    walk.put("array", f"{array.dtype.descr if array.dtype.names else array.dtype.str}{array.shape}")
    if array.dtype.hasobject:
        walk.value(array.tolist())
    else:
        walk.put("bytes", np.ascontiguousarray(array).tobytes().hex())


def _changeable(write: Callable[[Walk, Any], None]) -> Callable[[Walk, Any], None]:
    return lambda walk, value: walk.changeable(value, write)


def _wrapped(*names: str) -> Callable[[Walk, Any], None]:
    """Write down what a wrapper of functions holds, by its attributes."""

    def write(walk: Walk, value: Any) -> None:
        walk.put(type(value).__name__)
        for name in names:
            walk.value(getattr(value, name, None))

    return write


def _cached(walk: Walk, value: Any) -> None:
    if owner_of(value.__module__) == "user":
        walk.caches.append(value)
    _wrapped("__wrapped__")(walk, value)


def _builtin(walk: Walk, value: Any) -> None:
    hidden = value.__self__
    walk.put("builtin", f"{getattr(value, '__module__', None)}.{value.__qualname__}")
    if hidden is not None and not isinstance(hidden, types.ModuleType):
        walk.value(hidden)


def _descriptor(walk: Walk, value: Any) -> None:
    walk.put("descriptor", f"{value.__objclass__.__name__}.{value.__name__}")


def _numba_value(walk: Walk, value: Any) -> None:
    """Write down what Numba compiles: a function by the Python function that it was written as, a type by its name."""
    source = getattr(value, "_dispatcher", value)
    for name in ("py_func", "_pyfunc", "_defn"):
        if (function := getattr(source, name, None)) is not None:
            options = getattr(source, "targetoptions", {})
            if owner_of(function.__module__) == "user":
                walk.compiled.append(value)
                walk.put("compiled", " ".join(f"{one}={options[one]!r}" for one in _NUMBA_OPTIONS if options.get(one)))
            if name != "_defn" or owner_of(function.__module__) == "user":
                walk.value(function)
            else:
                walk.put("intrinsic", f"{function.__module__}.{function.__qualname__}")
            return
    walk.put("numba", f"{type(value).__name__} {value}")


def _object(walk: Walk, value: Any) -> None:
    """Write down an object by its class and its state, as it would be copied."""
    if isinstance(value, tuple) and type(value).__reduce_ex__ is tuple.__reduce_ex__:
        walk.value(type(value))
        _items(walk, tuple(value))
        return
    try:
        state = value.__reduce_ex__(4)
    except Exception:  # each kind of object that cannot be copied says so in its own way
        _undigestible(walk, value)
        return
    if isinstance(state, str):
        walk.put("known", f"{type(value).__module__}.{state}")
    elif type(value).__hash__ is None or owner_of(type(value).__module__) == "user":
        walk.changeable(value, _state)
    else:
        with walk.once(value) as first:
            if first:
                _state(walk, value)


def _undigestible(walk: Walk, value: Any) -> None:
    if not walk.lenient:
        raise walk.refuse(value) from None
    walk.put("object", f"{type(value).__module__}.{type(value).__qualname__}")


def _state(walk: Walk, value: Any) -> None:
    made, arguments, *rest = value.__reduce_ex__(4)
    walk.value(type(value))
    walk.value(made)
    walk.value(arguments)
    state, listed, mapped = (*rest, None, None, None)[:3]
    walk.value(state)
    walk.value(None if listed is None else list(listed))
    walk.value(None if mapped is None else dict(mapped))


VALUES: dict[type, Callable[[Any, Any], None]] = {
    type(None): _text("none", lambda value: ""),
    bool: _text("bool", repr),
    int: _text("int", hex),
    float: _text("float", float.hex),
    complex: _text("complex", lambda value: f"{value.real.hex()} {value.imag.hex()}"),
    str: _text("str", str),
    bytes: _text("bytes", bytes.hex),
    type(...): _text("ellipsis", lambda value: ""),
    range: _text("range", repr),
    np.dtype: _text("dtype", str),
    tuple: _items,
    frozenset: _set,
    list: _changeable(_items),
    dict: _changeable(_mapping),
    set: _changeable(_set),
    bytearray: _changeable(_text("bytearray", lambda value: bytes(value).hex())),
    np.ndarray: _changeable(_array),
    types.MappingProxyType: _changeable(_mapping),
    types.MethodType: _wrapped("__func__", "__self__"),
    types.BuiltinFunctionType: _builtin,
    types.MethodWrapperType: _builtin,
    types.MethodDescriptorType: _descriptor,
    types.WrapperDescriptorType: _descriptor,
    types.ClassMethodDescriptorType: _descriptor,
    types.MemberDescriptorType: _descriptor,
    types.GetSetDescriptorType: _descriptor,
    classmethod: _wrapped("__func__"),
    staticmethod: _wrapped("__func__"),
    property: _wrapped("fget", "fset", "fdel"),
    functools.cached_property: _wrapped("func"),
    functools.partial: _wrapped("func", "args", "keywords"),
    functools.partialmethod: _wrapped("func", "args", "keywords"),
    type(functools.lru_cache(len)): _cached,
}
"""How a value is written down, by its very type."""
