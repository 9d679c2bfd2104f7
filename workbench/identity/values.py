"""How each kind of value is written down: numbers and texts as they are, arrays by bytes, objects by their parts.

A value that no digest can stand for is refused in a sentence.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import os
import pathlib
import sys
import threading
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import InputError
from workbench.identity.objects import MISSING, is_numba, numba_value, undigestible, write_object
from workbench.identity.owners import module_of_class, owner_of

if TYPE_CHECKING:
    from workbench.identity.walk import Walk


def other_value(walk: Walk, value: Any) -> None:
    """Write down a value whose kind has no entry of its own in `VALUES`."""
    kind = type(value)
    if value is MISSING:
        walk.put("missing")
    elif callable(getattr(kind, "__identity__", None)):
        identity = value.__identity__()
        if walk.notes is walk.package:
            walk.package.value(value.__identity__, identity, walk.shown)
        walk.value(identity)
    elif is_numba(kind):
        numba_value(walk, value)
    elif isinstance(value, enum.Enum):
        walk.put("member", value.name)
        walk.value(kind)
    elif isinstance(value, np.generic):
        walk.put("scalar", f"{value.dtype.str}{value.tobytes().hex()}")
    elif isinstance(value, np.ufunc):
        _ufunc(walk, value)
    elif value is os.environ or kind in _LOCKS or (is_random(value) and walk.within_installed):
        walk.put("state of the process", kind.__name__)
    elif is_random(value) or hasattr(kind, "__next__"):
        undigestible(walk, value)
    elif any((base.__module__, base.__name__) in _NATIVE for base in kind.__mro__) and not walk.lenient:
        raise walk.refuse(value, "machine code of a library", "open the library within the function that calls it")
    elif "cython_function" in kind.__name__:
        walk.named(value.__module__, value.__qualname__)
    else:
        write_object(walk, value)


_LOCKS = (type(threading.Lock()), type(threading.RLock()))
_NATIVE = {("ctypes", "CDLL"), ("_ctypes", "CFuncPtr")}


def _ufunc(walk: Walk, value: Any) -> None:
    """Write down a function of arrays by its name; one that a user's code made hides what it was made of."""
    name = value.__name__
    homes = (place for place, module in list(sys.modules.items()) if getattr(module, "__dict__", {}).get(name) is value)
    home = next((place for place in homes if owner_of(place) == "installed"), None)
    if home is None and not walk.lenient:
        raise walk.refuse(value, "a ufunc that hides the function it was made of (use numba.vectorize, target cpu)")
    walk.named("numpy", name)


_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _place(walk: Walk, path: str | pathlib.PurePath) -> None:
    """Write down a text or a path; of a place within the package its last name, the same in every clone."""
    text = str(path)
    if text.startswith(_PACKAGE):
        walk.put("own place", os.path.basename(text))
    else:
        walk.put("str" if isinstance(path, str) else "path", text)


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
    """Write down an array by its bytes; they are digested once, for the look at whether they have changed too."""
    if array.dtype.hasobject:
        walk.changeable(array, _objects)
        return
    digest = _digest_of_array(array)
    walk.put("array", digest)
    walk.changed_by(functools.partial(_digest_of_array, array), digest, array)


def _objects(walk: Walk, array: Any) -> None:
    walk.put("array", _form(array))
    walk.value(array.tolist())


def _form(array: Any) -> str:
    """Return what an array is beside its values in C order; where it lies in Fortran's, sums are rounded otherwise.

    Any other layout of its memory, which does not outlive a copy, says nothing.
    """
    strides = f" {array.strides}" if array.flags.fnc else ""
    return f"{array.dtype.descr if array.dtype.names else array.dtype.str}{array.shape}{strides}"


def _digest_of_array(array: Any) -> str:
    """Return an array's form and a digest of what it holds; of one that nobody can write to it is computed once."""
    if id(array) in _read_only:
        return _read_only[id(array)]
    whole: Any = np.ascontiguousarray(array).reshape(-1)
    content = hashlib.blake2b(whole.view(np.uint8) if whole.itemsize else b"", digest_size=16)
    digest = f"{_form(array)} {content.hexdigest()}"
    if not _is_written_to(array):
        _read_only[id(array)] = digest
        weakref.finalize(array, _read_only.pop, id(array), None)
    return digest


_read_only: dict[int, str] = {}
"""The digests of arrays that cannot be written to, by their addresses, as long as they live."""


def _is_written_to(array: Any) -> bool:
    """Return whether an array can be written to, by itself or through what holds its memory; bytes cannot."""
    while isinstance(array, np.ndarray):
        if array.flags.writeable:
            return True
        array = array.base
    return array is not None and not isinstance(array, bytes)


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
    if is_random(hidden):
        undigestible(walk, hidden)
    elif isinstance(hidden, types.ModuleType):
        if owner_of(hidden.__name__) == "user":
            walk.modules.setdefault(hidden.__name__, set())
    elif hidden is not None:
        walk.value(hidden)


def _descriptor(walk: Walk, value: Any) -> None:
    walk.put("descriptor", f"{value.__objclass__.__name__}.{value.__name__}")


def is_random(value: Any) -> bool:
    """Return whether a value draws random numbers from a state of its own."""
    return any((module_of_class(base).partition(".")[0], base.__name__) in _GENERATORS for base in type(value).__mro__)


_GENERATORS = {("random", "Random"), ("numpy", "Generator"), ("numpy", "RandomState"), ("numpy", "BitGenerator")}


VALUES: dict[type, Callable[[Any, Any], None]] = {
    type(None): _text("none", lambda value: ""),
    bool: _text("bool", repr),
    int: _text("int", hex),
    float: _text("float", float.hex),
    complex: _text("complex", lambda value: f"{value.real.hex()} {value.imag.hex()}"),
    str: _place,
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
    type(pathlib.Path()): _place,
    type(pathlib.PurePath()): _place,
    classmethod: _wrapped("__func__"),
    staticmethod: _wrapped("__func__"),
    property: _wrapped("fget", "fset", "fdel"),
    functools.cached_property: _wrapped("func"),
    functools.partial: _wrapped("func", "args", "keywords"),
    functools.partialmethod: _wrapped("func", "args", "keywords"),
    type(functools.lru_cache(len)): _cached,
}
"""How a value is written down, by its very type."""


def refused(within: Sequence[str], value: Any, what: str = "", cure: str = "") -> InputError:
    """Return the refusal of a value: where it was met, under what name, and what it is.

    >>> print(refused(["MyFit", "answer", "LOG"], open(0, closefd=False)))
    MyFit.answer reads LOG, an open file: no run can be named by it; use numbers, texts, tuples or arrays instead.
    """
    *owners, name = within or ("",)
    reader = ".".join(part for part in owners[-2:] if part)
    kind = what or kind_of(value)
    return InputError(
        f"{reader or 'a policy'} reads {name or 'a value'}, {kind}: no run can be named by it; "
        f"{cure or 'use numbers, texts, tuples or arrays instead'}."
    )


def kind_of(value: Any) -> str:
    """Say what a value is, as a part of a sentence."""
    kind = type(value)
    if is_random(value):
        return f"a random generator ({kind.__name__})"
    if hasattr(value, "fileno"):
        return "an open file" if hasattr(value, "read") or hasattr(value, "write") else f"an open {kind.__name__}"
    if hasattr(value, "__next__"):
        return f"an iterator ({kind.__name__}) that is used up as it is read"
    return f"a {kind.__qualname__} of {kind.__module__}"
