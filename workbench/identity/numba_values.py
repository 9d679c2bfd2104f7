"""How what Numba compiles is written down: as what it was compiled from; its containers by what they hold."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

from workbench.identity.guards import MISSING
from workbench.identity.owner import label, module_of_class, owner_of
from workbench.identity.transcript import Transcript

_OPTIONS = ("boundscheck", "debug", "error_model", "fastmath", "forceobj", "looplift", "parallel")
"""The options of a compiled function that can change what it returns."""
_ADDRESS = re.compile(r"#[0-9a-f]+|0x[0-9a-f]+")
_overloads: dict[int, tuple[Any, list[Any]]] = {}
"""By the address of a function, the function and what Numba was told to compile in its place."""
_seen = 0


def is_numba(kind: type) -> bool:
    """Return whether values of a kind are Numba's, compiled classes and their objects among them."""
    return module_of_class(kind).partition(".")[0] == "numba"


def usual_attributes(value: Any) -> frozenset[str]:
    """Return the attributes that Numba itself gives a value: those of a compiled function, all of anything else."""
    if getattr(value, "py_func", None) is None:
        return frozenset(getattr(value, "__dict__", ()))
    return _of_dispatchers()


@functools.cache
def _of_dispatchers() -> frozenset[str]:
    numba: Any = sys.modules["numba"]
    ours = "get_call_template"  # by which `workbench.compiled.kernel` is called; a worker's copy is made without it
    return frozenset({*vars(numba.njit(lambda: None)), ours})


def numba_value(hasher: Transcript, value: Any) -> None:
    """Write down what Numba compiles: a function by the Python function that it was written as, a type by its name."""
    kind = getattr(value, "_numba_type_", None)
    if hasattr(value, "class_type") or hasattr(value, "jit_methods"):
        _class(hasher, value)
    elif hasattr(kind, "struct"):
        hasher.changeable(value, _object)
    elif type(value).__name__ in ("Dict", "List") and kind is not None:
        hasher.changeable(value, _container)
    elif (function := _source(value)) is not None:
        _function(hasher, value, function)
    else:
        hasher.put("numba", f"{type(value).__name__} {_ADDRESS.sub('', str(value))}")


def overloads(function: FunctionType) -> list[Any]:
    """Return the functions that Numba asks for what to compile in place of a function."""
    global _seen
    templates = sys.modules.get("numba.core.typing.templates")
    known = templates.builtin_registry.globals if templates else []
    for thing, kind in known[_seen:]:
        results = [made for one in getattr(kind, "templates", ()) if (made := getattr(one, "_overload_func", None))]
        _overloads.setdefault(id(thing), (thing, []))[1].extend(results)
    _seen = len(known)
    return _overloads.get(id(function), (None, []))[1]


def _source(value: Any) -> Any:
    if type(value).__name__ == "StencilFunc":
        return value.kernel_ir.func_id.func
    dispatcher = getattr(value, "_dispatcher", value)
    names = ("py_func", "_pyfunc", "_defn")
    return next((source for name in names if (source := getattr(dispatcher, name, None))), None)


def _function(hasher: Transcript, value: Any, function: Any) -> None:
    if owner_of(function.__module__) == "user":
        hasher.compiled.append(value)
        hasher.put("compiled", " ".join(_options(value)))
    elif hasattr(value, "_defn"):
        hasher.put("intrinsic", label(function.__module__, function.__qualname__))
        return
    hasher.value(function)


def _options(value: Any) -> Iterator[str]:
    """Yield the settings of a compiled function: options, types of local variables, fixed signatures."""
    source = getattr(value, "_dispatcher", value)
    options = getattr(source, "targetoptions", {})
    yield from (f"{one}={options[one]!r}" for one in _OPTIONS if options.get(one))
    yield from (f"{name}:{kind}" for name, kind in sorted(getattr(source, "locals", {}).items()))
    if getattr(source, "_can_compile", True) is False and hasattr(source, "nopython_signatures"):
        yield from sorted(_ADDRESS.sub("", str(one)) for one in source.nopython_signatures)
    if getattr(value, "_frozen", False):
        yield from value.types
    for name in ("_sig", "mode", "neighborhood", "options"):
        if (reply := vars(value).get(name) if hasattr(value, "__dict__") else None) is not None:
            yield f"{name}={reply}"


def _class(hasher: Transcript, value: Any) -> None:
    """Write down a compiled class, or the type of its objects: its fields and the functions that it was written as."""
    kind = getattr(value, "class_type", value)
    hasher.compiled.append(kind)
    with hasher.once(kind) as first:
        if first:
            hasher.put("compiled class", kind.class_name)
            hasher.value({name: _ADDRESS.sub("", str(field)) for name, field in kind.struct.items()})
            for parts in (kind.jit_methods, kind.jit_props, kind.jit_static_methods):
                hasher.value(dict(parts))


def _object(hasher: Transcript, value: Any) -> None:
    kind = value._numba_type_
    numba_value(hasher, kind.class_type)
    for name in kind.struct:
        hasher.put("field", name)
        hasher.value(getattr(value, name, MISSING))


def _container(hasher: Transcript, value: Any) -> None:
    hasher.put("typed", _ADDRESS.sub("", str(value._numba_type_)))
    hasher.value(list(value.items()) if hasattr(value, "items") else list(value))
