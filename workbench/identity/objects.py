"""Objects, written down by their class and their state, and the guards that tell whether they are still the same.

They are written as they would be copied, and as they are; what Numba compiles as what it was compiled from, and its
containers by what they hold. What a digest was taken from is kept so that it can be asked at once whether all of it
is still the same; values of the workbench's own that can change while they stay the same object are noted, so that a
look is quick.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import operator
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import CellType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.identity.owners import label, module_of_class, owner_of, owner_of_class

if TYPE_CHECKING:
    from workbench.identity.walk import Walk


_HOOKS = ("__getstate__", "__reduce__", "__reduce_ex__")
"""How a class says what of its objects is copied, which need not be all that its methods read."""


def write_object(walk: Walk, value: Any) -> None:
    """Write down an object's class and its state: as it would be copied, and where its class says how, as it is too."""
    if isinstance(value, tuple) and type(value).__reduce_ex__ is tuple.__reduce_ex__:
        walk.value(type(value))
        walk.value(tuple(value))
        return
    whole = _says_how(type(value))
    try:
        reduced = _reduced(value)
    except Exception:  # each kind of object that cannot be copied says so in its own way
        if not whole:
            undigestible(walk, value)
            return
        reduced = ""
    if isinstance(reduced, str) and not whole:
        walk.put("known", label(module_of_class(type(value)), reduced))
    elif type(value).__hash__ is None or owner_of_class(type(value)) == "user":
        walk.changeable(value, _whole if whole else _state)
    else:
        walk.note(value)
        with walk.once(value) as first:
            if first:
                _state(walk, value)


def attached(value: Any) -> dict[str, Any]:
    """Return what the user's code attached to a value whose kind says nothing of its attributes: a member of an
    enumeration, a wrapper of functions, an array of a subclass, a compiled function.

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


def write_attached(walk: Walk, value: Any) -> None:
    """Write down what is attached to a value."""
    walk.value(attached(value))


_TAKE_ATTRIBUTES = (np.ndarray, functools.partial, functools.partialmethod, type(functools.lru_cache(len)), enum.Enum)
_USUAL = frozenset({"cache_parameters"})


def undigestible(walk: Walk, value: Any) -> None:
    """Refuse a value that no digest can stand for; among the workbench's own it counts by its kind."""
    if not walk.lenient:
        raise walk.refuse(value) from None
    walk.put("object", label(module_of_class(type(value)), type(value).__qualname__))


def _says_how(kind: type) -> bool:
    """Return whether a class of the user's says what of its objects is copied."""
    if kind in copyreg.dispatch_table:
        return owner_of_class(kind) == "user"
    said = (base for hook in _HOOKS for base in kind.__mro__ if hook in vars(base) and base is not object)
    return any(owner_of_class(base) == "user" for base in said)


def _reduced(value: Any) -> Any:
    how = copyreg.dispatch_table.get(type(value))
    return value.__reduce_ex__(4) if how is None else how(value)


def _whole(walk: Walk, value: Any) -> None:
    walk.value(type(value))
    walk.value(dict(_attributes(value)))
    try:
        reduced = _reduced(value)
    except Exception:
        return
    if not isinstance(reduced, str):
        _parts(walk, reduced)


def _attributes(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield what an object holds in its own namespace and in slots."""
    yield from getattr(value, "__dict__", {}).items()
    for name in slots_of(type(value)):
        yield name, getattr(value, name, MISSING)


def slots_of(kind: type) -> list[str]:
    """Return the names of the slots of a class and its bases."""
    return [name for base in kind.__mro__ for name, one in vars(base).items() if isinstance(one, MemberDescriptorType)]


def _state(walk: Walk, value: Any) -> None:
    walk.value(type(value))
    installed = owner_of_class(type(value)) == "installed"
    walk.within_installed += installed
    try:
        _parts(walk, _reduced(value))
    finally:
        walk.within_installed -= installed


def _parts(walk: Walk, reduced: Any) -> None:
    made, arguments, *rest = reduced
    walk.value(made)
    walk.value(arguments)
    state, listed, mapped = (*rest, None, None, None)[:3]
    if isinstance(state, dict) and not _NOTED_LATER.isdisjoint(state):
        state = {name: one for name, one in state.items() if name not in _NOTED_LATER}
    walk.value(state)
    walk.value(None if listed is None else list(listed))
    walk.value(None if mapped is None else dict(mapped))


_NOTED_LATER = frozenset({"_has_canonical_format", "_has_sorted_indices"})
"""What matrices of SciPy note about their numbers when they are first asked."""

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
    return frozenset(vars(numba.njit(lambda: None)))


def numba_value(walk: Walk, value: Any) -> None:
    """Write down what Numba compiles: a function by the Python function that it was written as, a type by its name."""
    kind = getattr(value, "_numba_type_", None)
    if hasattr(value, "class_type") or hasattr(value, "jit_methods"):
        _class(walk, value)
    elif hasattr(kind, "struct"):
        walk.changeable(value, _object)
    elif type(value).__name__ in ("Dict", "List") and kind is not None:
        walk.changeable(value, _container)
    elif (function := _source(value)) is not None:
        _function(walk, value, function)
    else:
        walk.put("numba", f"{type(value).__name__} {_ADDRESS.sub('', str(value))}")


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
    source = getattr(value, "_dispatcher", value)
    return next((found for n in ("py_func", "_pyfunc", "_defn") if (found := getattr(source, n, None))), None)


def _function(walk: Walk, value: Any, function: Any) -> None:
    if owner_of(function.__module__) == "user":
        walk.compiled.append(value)
        walk.put("compiled", " ".join(_options(value)))
    elif hasattr(value, "_defn"):
        walk.put("intrinsic", label(function.__module__, function.__qualname__))
        return
    walk.value(function)


def _options(value: Any) -> Iterator[str]:
    """Yield what a compiled function was told: options, types of local variables, fixed signatures."""
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


def _class(walk: Walk, value: Any) -> None:
    """Write down a compiled class, or the type of its objects: its fields and the functions that it was written as."""
    kind = getattr(value, "class_type", value)
    walk.compiled.append(kind)
    with walk.once(kind) as first:
        if first:
            walk.put("compiled class", kind.class_name)
            walk.value({name: _ADDRESS.sub("", str(field)) for name, field in kind.struct.items()})
            for parts in (kind.jit_methods, kind.jit_props, kind.jit_static_methods):
                walk.value(dict(parts))


def _object(walk: Walk, value: Any) -> None:
    kind = value._numba_type_
    numba_value(walk, kind.class_type)
    for name in kind.struct:
        walk.put("field", name)
        walk.value(getattr(value, name, MISSING))


def _container(walk: Walk, value: Any) -> None:
    walk.put("typed", _ADDRESS.sub("", str(value._numba_type_)))
    walk.value(list(value.items()) if hasattr(value, "items") else list(value))


def note_content(notes: Guards, value: Any, shown: str) -> None:
    """Note what a value holds now: members by being the same objects, numbers by their bytes, sets as they are.

    What the members hold is noted as they are passed.

    >>> numbers, notes = [1, 2], Guards()
    >>> note_content(notes, numbers, "NUMBERS")
    >>> notes.changed(), numbers.append(3), notes.changed()
    ('', None, 'NUMBERS')
    """
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        again: Any = functools.partial(_bytes, value)
    elif isinstance(value, (set, bytearray)):
        again = functools.partial(_values, value)
    else:
        notes.members(_lookup(value), shown)
        return
    notes.value(again, again(), shown)


def _bytes(array: np.ndarray) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.strides, array.tobytes()


def _values(value: Any) -> frozenset[Any] | bytes:
    return bytes(value) if isinstance(value, bytearray) else frozenset((type(one), one) for one in value)


def _lookup(value: Any) -> Callable[[], tuple[Any, ...]]:
    """Return what gives all that a container or an object holds."""
    if isinstance(value, Mapping):
        return lambda: (*value.keys(), *value.values())
    if isinstance(value, (list, tuple)):
        return lambda: tuple(value)
    if isinstance(value, np.ndarray):
        return lambda: tuple(value.flat)
    space, slots = getattr(value, "__dict__", {}), slots_of(type(value))
    return lambda: (*space.values(), *(getattr(value, name, MISSING) for name in slots))


MISSING: Any = type("Missing", (), {"__repr__": lambda self: "missing"})()
"""Stands for a name that nothing is known by."""


class Guards:
    """The names, cells, functions and classes of a user that a walk passed; looking again takes microseconds."""

    def __init__(self) -> None:
        self._names: list[tuple[Callable[..., Any], str, Any, str]] = []
        self._cells: list[tuple[CellType, Any, str]] = []
        self._functions: list[tuple[FunctionType, Any, Any, Any, int]] = []
        self._classes: list[tuple[type, int, tuple[type, ...]]] = []
        self._values: list[tuple[Callable[[], Any], Any, str]] = []
        self._members: list[tuple[Callable[[], tuple[Any, ...]], tuple[Any, ...], str]] = []

    def name(self, namespace: Mapping[str, Any], name: str, value: Any, shown: str) -> None:
        """Note what a name stands for."""
        self._names.append((namespace.get, name, value, shown))

    def cell(self, cell: CellType, shown: str) -> None:
        """Note what a closure cell holds."""
        self._cells.append((cell, content(cell), shown))

    def function(self, function: FunctionType) -> None:
        """Note the code and the defaults of a function, and how many attributes it has; each is noted by its name."""
        parts = function.__code__, function.__defaults__, function.__kwdefaults__
        self._functions.append((function, *parts, len(vars(function))))

    def type(self, cls: type) -> None:
        """Note how many attributes a class has, and its bases; each attribute is noted by its name."""
        self._classes.append((cls, _count(cls), cls.__bases__))

    def value(self, again: Callable[[], Any], digest: Any, shown: str) -> None:
        """Note a value that can change while it stays the same object, by what gives its digest."""
        self._values.append((again, digest, shown))

    def members(self, again: Callable[[], tuple[Any, ...]], shown: str) -> None:
        """Note what a container holds, each by being the same object."""
        self._members.append((again, again(), shown))

    def include(self, others: Guards) -> None:
        """Note all that others noted."""
        for mine, theirs in zip(vars(self).values(), vars(others).values(), strict=True):
            mine.extend(theirs)

    def any(self) -> bool:
        """Return whether there is anything that could change."""
        return any(vars(self).values())

    def changed(self) -> str:
        """Return what is another than it was, as a name; empty where all is as it was."""
        for get, name, value, text in self._names:
            if get(name, MISSING) is not value:
                return text
        return next(self._others(), "")

    def _others(self) -> Iterator[str]:
        for cell, value, text in self._cells:
            if content(cell) is not value:
                yield text
        for function, code, defaults, keyword_defaults, count in self._functions:
            now = function.__code__, function.__defaults__, function.__kwdefaults__
            if now[0] is not code or now[1] is not defaults or now[2] is not keyword_defaults:
                yield function.__qualname__
            if len(vars(function)) != count:
                yield function.__qualname__
        for cls, count, bases in self._classes:
            if _count(cls) != count or cls.__bases__ != bases:
                yield cls.__qualname__
        for again, digest, text in self._values:
            if again() != digest:
                yield text
        for members, before, text in self._members:
            now = members()
            if len(now) != len(before) or any(map(operator.is_not, now, before)):
                yield text


def _count(cls: type) -> int:
    """Return how many attributes a class has but what Python notes when the first of its objects is copied."""
    return len(vars(cls)) - ("__slotnames__" in vars(cls))


def content(cell: CellType) -> Any:
    """Return what a closure cell holds, `MISSING` where it holds nothing yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING
