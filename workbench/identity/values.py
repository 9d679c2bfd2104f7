"""How each kind of value is written down: numbers and texts as they are, arrays by bytes, objects by class and state.

Objects are written as they would be copied, and as they are; what Numba compiles as what it was compiled from, and its
containers by what they hold. A value that no digest can stand for is refused in a sentence.

What a digest was taken from is kept (`Guards`) so that it can be asked at once whether all of it is still the same;
values of the workbench's own that can change while they stay the same object are noted, so that a look is quick.
"""

from __future__ import annotations

import copyreg
import enum
import functools
import hashlib
import inspect
import operator
import os
import pathlib
import re
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CellType, FunctionType, MemberDescriptorType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from workbench.errors import InputError
from workbench.identity.code import label, module_of_class, owner_of, owner_of_class

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
    elif lock_maker(value) or _is_any_of(kind, _OF_THE_PROCESS) or (is_random(value) and walk.within_installed):
        walk.put("state of the process", kind.__name__)
    elif is_random(value) or hasattr(kind, "__next__"):
        undigestible(walk, value)
    elif _is_any_of(kind, _NATIVE) and not walk.lenient:
        raise walk.refuse(value, "machine code of a library", "open the library within the function that calls it")
    elif "cython_function" in kind.__name__:
        walk.named(value.__module__, value.__qualname__)
    else:
        write_object(walk, value)


_LOCKS: dict[type, Callable[[], Any]] = {
    type(threading.Lock()): threading.Lock,
    type(threading.RLock()): threading.RLock,
}
_NATIVE = {("ctypes", "CDLL"), ("_ctypes", "CFuncPtr")}
_OF_THE_PROCESS = {("os", "_Environ"), ("multiprocessing.context", "BaseContext")}
"""Variables; and what starts processes, which notes how when it first does."""


def _is_any_of(kind: type, names: set[tuple[str, str]]) -> bool:
    return any((base.__module__, base.__name__) in names for base in kind.__mro__)


def lock_maker(value: Any) -> Callable[[], Any] | None:
    """Return what makes a lock of the same kind: a lock guards what one process does. None of what is no lock.

    >>> lock_maker(threading.RLock()) is threading.RLock, lock_maker(3)
    (True, None)
    """
    kind = type(value)
    if kind.__module__ == "multiprocessing.synchronize" and kind.__name__ in ("Lock", "RLock"):
        make: Callable[[], Any] = getattr(sys.modules["multiprocessing"], kind.__name__)
        return make
    return _LOCKS.get(kind)


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
    """Write down an array by its bytes; whether these have changed is seen at a glance."""
    if array.dtype.hasobject:
        walk.changeable(array, _objects)
        return
    digest = _digest_of_array(array)
    walk.put("array", digest)
    if array.nbytes < _LARGE or not array.flags.c_contiguous:
        walk.changed_by(functools.partial(_digest_of_array, array), digest, array)
    else:
        walk.changed_by(functools.partial(_look_at_large, array), _look_at_large(array), array)


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


_LARGE = 1 << 20
_WIDTH = 4093
"""A prime, so that no table has rows of as many words."""


def _look_at_large(array: Any) -> tuple[str | bytes, ...] | str:
    """Return an array's form and the sums of all rows and columns of its words, in a tenth of the time of a digest."""
    if array.nbytes % 8 or not _is_written_to(array):
        return _digest_of_array(array)
    words = array.reshape(-1).view(np.uint8).view(np.uint64)
    rest = len(words) % _WIDTH
    rows = words[: len(words) - rest].reshape(-1, _WIDTH)
    return _form(array), *(part.tobytes() for part in (rows.sum(0), rows.sum(1), words[len(words) - rest :]))


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


def refused(within: Sequence[str], value: Any, what: str = "", cure: str = "", reader: Any = None) -> InputError:
    """Return the refusal of a value: where it was met, under what name, what it is, and where the reader is written.

    >>> print(refused(["MyFit", "answer", "LOG"], open(0, closefd=False)))
    MyFit.answer reads LOG, an open file: no run can be named by it; use numbers, texts, tuples or arrays instead.
    """
    *owners, name = within or ("",)
    whose = (".".join(part for part in owners[-2:] if part) or "a policy") + _written(reader, within[1:])
    return InputError(
        f"{whose} reads {name or 'a value'}, {what or kind_of(value)}: no run can be named by it; "
        f"{cure or 'use numbers, texts, tuples or arrays instead'}."
    )


def _written(reader: Any, names: Sequence[str]) -> str:
    """Return the file of a function or a class, and the line that first has a name; empty where there is no text."""
    try:
        place, (lines, first) = inspect.getsourcefile(reader), inspect.getsourcelines(reader)
    except (OSError, TypeError):
        return ""
    name = re.compile(rf"\b{re.escape(names[0].partition('.')[0]) if names else ''}\b")
    line = next((number for number, text in enumerate(lines, first) if name.search(text)), first)
    return f" ({os.path.basename(place or '')}, line {line})"


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
        _parts(walk, _reduced(value), installed)
    finally:
        walk.within_installed -= installed


def _parts(walk: Walk, reduced: Any, installed: bool = False) -> None:
    made, arguments, *rest = reduced
    walk.value(made)
    walk.value(arguments)
    state, listed, mapped = (*rest, None, None, None)[:3]
    walk.value(_without_notes(state, installed) if isinstance(state, dict) else state)
    walk.value(None if listed is None else list(listed))
    walk.value(None if mapped is None else dict(mapped))


def _without_notes(state: dict[str, Any], installed: bool) -> dict[str, Any]:
    """Return a state without what its object notes later, as an installed class does in a private weak table."""
    weak = [name for name, one in state.items() if installed and isinstance(one, WeakKeyDictionary) and name[:1] == "_"]
    if not weak and _NOTED_LATER.isdisjoint(state):
        return state
    return {name: one for name, one in (state | dict.fromkeys(weak)).items() if name not in _NOTED_LATER}


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
    ours = "get_call_template"  # by which `workbench.compiled.kernel` is called; a worker's copy is made without it
    return frozenset({*vars(numba.njit(lambda: None)), ours})


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
        again: Any = functools.partial(_digest_of_array, value)
    elif isinstance(value, (set, bytearray)):
        again = functools.partial(_values, value)
    else:
        notes.members(_lookup(value), shown)
        return
    notes.value(again, again(), shown)


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
