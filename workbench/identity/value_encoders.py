"""Encoders of values in a digest: numbers and texts as they are, arrays by bytes, objects by class and state.

Objects are written as they would be copied, and as they are. A value that no digest can stand for is refused.
"""

from __future__ import annotations

import copyreg
import ctypes
import enum
import functools
import os
import pathlib
import sys
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.identity.guards import MISSING, array_form, digest_of_array, look_at_array, slots_of
from workbench.identity.numba_values import is_numba, numba_value, usual_attributes
from workbench.identity.owner import label, module_of_class, owner_of, owner_of_class
from workbench.identity.refusal import is_random
from workbench.identity.transcript import Transcript


def encode_other(hasher: Transcript, value: Any) -> None:
    """Encode a value whose kind has no entry of its own in `ENCODERS`."""
    kind = type(value)
    if value is MISSING:
        hasher.put("missing")
    elif callable(getattr(kind, "__identity__", None)):
        identity = value.__identity__()
        if hasher.notes is hasher.package:
            hasher.package.value(value.__identity__, identity, hasher.location)
        hasher.value(identity)
    elif is_numba(kind):
        numba_value(hasher, value)
    elif isinstance(value, enum.Enum):
        hasher.put("member", str(value.name))
        if value.name not in kind.__members__:  # flags that are set together, perhaps none, and have no name
            hasher.value(value.value)
        hasher.value(kind)
    elif isinstance(value, np.generic):
        hasher.put("scalar", f"{value.dtype.str}{value.tobytes().hex()}")
    elif isinstance(value, np.ufunc):
        _ufunc(hasher, value)
    elif lock_maker(value) or _is_any_of(kind, _PROCESS_STATE_TYPES) or (is_random(value) and hasher.within_installed):
        hasher.put("state of the process", kind.__name__)
    elif is_random(value) or hasattr(kind, "__next__"):
        undigestible(hasher, value)
    elif _is_any_of(kind, _NATIVE) and not hasher.lenient and not _is_of_the_system(value):
        is_library = _is_any_of(kind, {_LIBRARY})
        cure = "open the library within the function that calls it" if is_library else "read it from its library there"
        raise hasher.refuse(value, "machine code of a library", cure)
    elif "cython_function" in kind.__name__:
        hasher.named(value.__module__, value.__qualname__)
    else:
        encode_object(hasher, value)


_LOCKS: dict[type, Callable[[], Any]] = {type(make()): make for make in (threading.Lock, threading.RLock)}
_LIBRARY = ("ctypes", "CDLL")
_NATIVE = {_LIBRARY, ("_ctypes", "CFuncPtr")}
_PROCESS_STATE_TYPES = {("os", "_Environ"), ("multiprocessing.context", "BaseContext")}
"""The environment's variables; and what starts processes, which notes how when it first does."""


def _is_any_of(kind: type, names: set[tuple[str, str]]) -> bool:
    return any((base.__module__, base.__name__) in names for base in kind.__mro__)


def _is_of_the_system(value: Any) -> bool:
    """Return whether a value is a library that the system finds by its name, as it finds Python's own: the name counts.

    A library with a path may be a user's, who edits it; its functions alone do not tell where they come from.
    """
    return type(value) is ctypes.CDLL and os.sep not in (value._name or "")


_FUNCTION: Any = vars(ctypes)["_CFuncPtr"]
"""The class of functions of a library."""


def _of_library(library: ctypes.CDLL) -> tuple[Any, ...]:
    """Return the recipe by which a library is opened again, with the types that its functions were given."""
    functions = {name: one for name, one in sorted(vars(library).items()) if isinstance(one, _FUNCTION)}
    typed = {name: (one.restype, one.argtypes, one.errcheck) for name, one in functions.items()}
    usual = (ctypes.c_int, None, None)
    return _opened, (library._name, {name: types for name, types in typed.items() if types != usual})


def _opened(name: str | None, typed: Mapping[str, tuple[Any, Any, Any]]) -> ctypes.CDLL:
    library = ctypes.CDLL(name)
    for function, (returned, given, check) in typed.items():
        one = getattr(library, function)
        one.restype, one.argtypes = returned, given
        if check is not None:
            one.errcheck = check
    return library


copyreg.pickle(ctypes.CDLL, _of_library)


def lock_maker(value: Any) -> Callable[[], Any] | None:
    """Return the constructor of a lock of the same kind: a lock guards what one process does. None of what is no lock.

    >>> lock_maker(threading.RLock()) is threading.RLock, lock_maker(3)
    (True, None)
    """
    kind = type(value)
    if kind.__module__ == "multiprocessing.synchronize" and kind.__name__ in ("Lock", "RLock"):
        make: Callable[[], Any] = getattr(sys.modules["multiprocessing"], kind.__name__)
        return make
    return _LOCKS.get(kind)


def _ufunc(hasher: Transcript, value: Any) -> None:
    """Write down a function of arrays by its name; one that a user's code made hides what it was made of."""
    name = value.__name__
    homes = (place for place, module in list(sys.modules.items()) if getattr(module, "__dict__", {}).get(name) is value)
    home = next((place for place in homes if owner_of(place) == "installed"), None)
    if home is None and not hasher.lenient:
        raise hasher.refuse(value, "a ufunc that hides the function it was made of (use numba.vectorize, target cpu)")
    hasher.named("numpy", name)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _encode_path(hasher: Transcript, path: str | pathlib.PurePath) -> None:
    """Write down a text or a path; of a place within the package its last name, the same in every clone."""
    text = str(path)
    if text.startswith(_PACKAGE):
        hasher.put("own place", os.path.basename(text))
    else:
        hasher.put("str" if isinstance(path, str) else "path", text)


def _text(kind: str, form: Callable[[Any], str]) -> Callable[[Transcript, Any], None]:
    return lambda hasher, value: hasher.put(kind, form(value))


def _items(hasher: Transcript, values: Any) -> None:
    hasher.put(type(values).__name__, str(len(values)))
    for value in values:
        hasher.value(value)


def _mapping(hasher: Transcript, values: Mapping[Any, Any]) -> None:
    hasher.put("dict", str(len(values)))
    for key, value in values.items():
        hasher.value(key)
        hasher.inside(str(key), hasher.value, value)


def _dictionary(hasher: Transcript, values: dict[Any, Any]) -> None:
    """Write down a dictionary; one of the user's that is empty may be a memo, which runs fill (`Snapshot.forget`)."""
    if not values and hasher.is_user_code and not hasher.open_values:
        hasher.memos.append(values)
    hasher.changeable(values, _mapping)


def _set(hasher: Transcript, values: Any) -> None:
    hasher.put(type(values).__name__, " ".join(sorted(hasher.alone(value) for value in values)))


def _array(hasher: Transcript, array: Any) -> None:
    """Write down an array by its bytes; whether these have changed is seen at a glance."""
    if array.dtype.hasobject:
        hasher.changeable(array, _objects)
        return
    hasher.put("array", digest_of_array(array))
    again = functools.partial(look_at_array, array)
    hasher.changed_by(again, again(), array)


def _objects(hasher: Transcript, array: Any) -> None:
    hasher.put("array", array_form(array))
    hasher.value(array.tolist())


def _changeable(write: Callable[[Transcript, Any], None]) -> Callable[[Transcript, Any], None]:
    return lambda hasher, value: hasher.changeable(value, write)


def _wrapped(*names: str) -> Callable[[Transcript, Any], None]:
    """Write down what a wrapper of functions holds, by its attributes."""

    def write(hasher: Transcript, value: Any) -> None:
        hasher.put(type(value).__name__)
        for name in names:
            hasher.value(getattr(value, name, None))

    return write


def _cached(hasher: Transcript, value: Any) -> None:
    if owner_of(value.__module__) == "user":
        hasher.caches.append(value)
    _wrapped("__wrapped__")(hasher, value)


def _builtin(hasher: Transcript, value: Any) -> None:
    hidden = value.__self__
    hasher.put("builtin", f"{getattr(value, '__module__', None)}.{value.__qualname__}")
    if is_random(hidden):
        undigestible(hasher, hidden)
    elif isinstance(hidden, types.ModuleType):
        if owner_of(hidden.__name__) == "user":
            hasher.modules.setdefault(hidden.__name__, set())
    elif hidden is not None:
        hasher.value(hidden)


def _descriptor(hasher: Transcript, value: Any) -> None:
    hasher.put("descriptor", f"{value.__objclass__.__name__}.{value.__name__}")


ENCODERS: dict[type, Callable[[Any, Any], None]] = {
    type(None): _text("none", lambda value: ""),
    bool: _text("bool", repr),
    int: _text("int", hex),
    float: _text("float", float.hex),
    complex: _text("complex", lambda value: f"{value.real.hex()} {value.imag.hex()}"),
    str: _encode_path,
    bytes: _text("bytes", bytes.hex),
    type(...): _text("ellipsis", lambda value: ""),
    range: _text("range", repr),
    np.dtype: _text("dtype", str),
    tuple: _items,
    frozenset: _set,
    list: _changeable(_items),
    dict: _dictionary,
    set: _changeable(_set),
    bytearray: _changeable(_text("bytearray", lambda value: bytes(value).hex())),
    np.ndarray: _array,
    np.memmap: _array,
    types.MappingProxyType: _changeable(_mapping),
    types.MethodType: _wrapped("__func__", "__self__"),
    types.BuiltinFunctionType: _builtin,
    types.MethodWrapperType: _builtin,
    types.MethodDescriptorType: _descriptor,
    types.WrapperDescriptorType: _descriptor,
    types.ClassMethodDescriptorType: _descriptor,
    types.MemberDescriptorType: _descriptor,
    types.GetSetDescriptorType: _descriptor,
    type(pathlib.Path()): _encode_path,
    type(pathlib.PurePath()): _encode_path,
    classmethod: _wrapped("__func__"),
    staticmethod: _wrapped("__func__"),
    property: _wrapped("fget", "fset", "fdel"),
    functools.cached_property: _wrapped("func"),
    functools.partial: _wrapped("func", "args", "keywords"),
    functools.partialmethod: _wrapped("func", "args", "keywords"),
    type(functools.lru_cache(len)): _cached,
}
"""The encoder of a value, by its exact type."""


_HOOKS = ("__getstate__", "__reduce__", "__reduce_ex__")
"""How a class says what of its objects is copied, which need not be all that its methods read."""


def encode_object(hasher: Transcript, value: Any) -> None:
    """Write down an object's class and its state: as it would be copied, and where its class says how, as it is too."""
    if isinstance(value, tuple) and type(value).__reduce_ex__ is tuple.__reduce_ex__:
        hasher.value(type(value))
        hasher.value(tuple(value))
        return
    whole = _says_how(type(value))
    try:
        reduced = _reduced(value)
    except Exception:  # each kind of object that cannot be copied says so in its own way
        if not whole:
            undigestible(hasher, value)
            return
        reduced = ""
    if isinstance(reduced, str) and not whole:
        hasher.put("known", label(module_of_class(type(value)), reduced))
    elif type(value).__hash__ is None or owner_of_class(type(value)) == "user":
        hasher.changeable(value, _whole if whole else _state)
    else:
        hasher.note(value)
        with hasher.once(value) as first:
            if first:
                _state(hasher, value)


def attached(value: Any) -> dict[str, Any]:
    """Return the attributes that the user's code attached to a value whose kind says nothing of its attributes. Such
    values are a member of an enumeration, a wrapper of functions, an array of a subclass, a compiled function.

    >>> import functools
    >>> partial = functools.partial(int)
    >>> partial.aim = 3
    >>> attached(partial), attached(3)
    ({'aim': 3}, {})
    """
    if isinstance(value, np.memmap) or not (isinstance(value, _TAKE_ATTRIBUTES) or is_numba(type(value))):
        return {}
    space = getattr(value, "__dict__", None) or {}
    usual = usual_attributes(value) if is_numba(type(value)) else _USUAL
    return {name: one for name, one in space.items() if not (name in usual or name.startswith("_"))}


_TAKE_ATTRIBUTES = (np.ndarray, functools.partial, functools.partialmethod, type(functools.lru_cache(len)), enum.Enum)
_USUAL = frozenset({"cache_parameters"})


def undigestible(hasher: Transcript, value: Any) -> None:
    """Refuse a value that no digest can stand for; among the workbench's own it counts by its kind."""
    if not hasher.lenient:
        raise hasher.refuse(value) from None
    hasher.put("object", label(module_of_class(type(value)), type(value).__qualname__))


def _says_how(kind: type) -> bool:
    """Return whether a class of the user's says what of its objects is copied."""
    if kind in copyreg.dispatch_table:
        return owner_of_class(kind) == "user"
    owners = (owner_of_class(base) for hook in _HOOKS for base in kind.__mro__ if hook in vars(base))
    return "user" in owners


def _reduced(value: Any) -> Any:
    how = copyreg.dispatch_table.get(type(value))
    return value.__reduce_ex__(4) if how is None else how(value)


def _whole(hasher: Transcript, value: Any) -> None:
    hasher.value(type(value))
    hasher.value(dict(_attributes(value)))
    try:
        reduced = _reduced(value)
    except Exception:
        return
    if not isinstance(reduced, str):
        _parts(hasher, reduced)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the values of an object in its own namespace and in slots."""
    yield from getattr(value, "__dict__", {}).items()
    for name in slots_of(type(value)):
        yield name, getattr(value, name, MISSING)


def _state(hasher: Transcript, value: Any) -> None:
    hasher.value(type(value))
    installed = owner_of_class(type(value)) == "installed"
    hasher.within_installed += installed
    try:
        _parts(hasher, _reduced(value), installed)
    finally:
        hasher.within_installed -= installed


def _parts(hasher: Transcript, reduced: Any, installed: bool = False) -> None:
    made, arguments, *rest = reduced
    hasher.value(made)
    hasher.value(arguments)
    state, listed, mapped = (*rest, None, None, None)[:3]
    hasher.value(_without_notes(state, installed) if isinstance(state, dict) else state)
    hasher.value(None if listed is None else list(listed))
    hasher.value(None if mapped is None else dict(mapped))


def _without_notes(state: dict[str, Any], installed: bool) -> dict[str, Any]:
    """Return a state without what its object notes later, as an installed class does in a private weak table."""
    weak = [name for name, one in state.items() if installed and isinstance(one, WeakKeyDictionary) and name[:1] == "_"]
    if not weak and _NOTED_LATER.isdisjoint(state):
        return state
    return {name: one for name, one in (state | dict.fromkeys(weak)).items() if name not in _NOTED_LATER}


_NOTED_LATER = frozenset({"_has_canonical_format", "_has_sorted_indices"})
"""What matrices of SciPy note about their numbers when they are first asked."""
