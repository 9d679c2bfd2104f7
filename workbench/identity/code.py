"""Code: who wrote it (the workbench, the author of an installed package, or the user), and what of it executes.

What executes is its instructions and constants, without names of files, line numbers and docstrings. A code object is
taken apart once; the names that it reads from outside are listed, to be looked up each time anew. What code of a user's
may not read, as every run would differ, is refused by name at once, with the cure. Files, variables of the environment
and clocks may be read: what is read is kept with the rows, and runs are repeated.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
import random
import secrets
import site
import sys
import sysconfig
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

Owner = Literal["user", "workbench", "machinery", "installed"]

MACHINERY = (
    "workbench.compiled",
    "workbench.errors",
    "workbench.identity",
    "workbench.levers",
    "workbench.policies.policy",
)
"""What reads, checks, compiles and calls: no part of any one policy. An engine's `revision` stands for it."""

_MAKERS = ("abc", "dataclasses", "enum", "types", "typing")
"""Modules of Python's that make classes which say that they are theirs."""
_WALKED = "workbench.compiled.bits"
_DEPENDENCIES = ("llvmlite", "msgspec", "numba", "numpy", "optuna", "pandas", "scipy", "yaml")
"""What the workbench itself stands on: its versions are named by the origin of every row, so by no id."""


def owner_of(module: str | None) -> Owner:
    """Return who wrote a module; what belongs to none that can be found is the user's.

    >>> owner_of("math"), owner_of("numpy.linalg"), owner_of("workbench.levers.spec"), owner_of("__main__")
    ('installed', 'installed', 'machinery', 'user')
    """
    if not module:
        return "user"
    if module.startswith("namedtuple_"):  # what Python writes for a named tuple says no more than its fields
        return "machinery"
    if module.partition(".")[0] == "workbench":
        return "machinery" if module != _WALKED and _is_within(module, MACHINERY) else "workbench"
    return "installed" if is_installed(module) else "user"


def module_of_class(cls: type) -> str:
    """Return the module that a class says it is of; that of a Cython function's says so of its objects alone.

    >>> module_of_class(dict)
    'builtins'
    """
    return cls.__module__ if isinstance(cls.__module__, str) else "builtins"


def owner_of_function(function: FunctionType) -> Owner:
    """Return who wrote a function; `functools.wraps` names it as of another module, so where it looks up names counts.

    >>> import functools
    >>> owner_of_function(functools.wraps), owner_of_function(owner_of)
    ('installed', 'machinery')
    """
    home = function.__globals__.get("__name__")
    owner = owner_of(function.__module__ or home)
    return owner if owner == "user" or home is None else "user" if owner_of(home) == "user" else owner


def owner_of_class(cls: type) -> Owner:
    """Return who wrote a class; one that is made by a function of Python's is named as of that function's module.

    >>> import fractions, types
    >>> owner_of_class(types.new_class("Aim")), owner_of_class(fractions.Fraction)
    ('user', 'installed')
    """
    owner = owner_of(module_of_class(cls))
    if owner == "user" or (owner == "installed" and _is_of_its_module(cls)):
        return owner
    functions = [part for part in vars(cls).values() if isinstance(part, FunctionType)]
    made = owner == "installed" and cls.__module__ in _MAKERS
    return "user" if made or any(owner_of_function(part) == "user" for part in functions) else owner


def _is_of_its_module(cls: type) -> bool:
    member: Any = sys.modules.get(module_of_class(cls))
    for name in cls.__qualname__.split("."):
        member = getattr(member, name, None)
    return member is cls


def label(module: str | None, name: str) -> str:
    """Return a name that a digest has for something: with its module, unless that is one of the workbench's own rooms,
    which move.

    >>> label("workbench.levers.lever", "lever"), label("math", "sin")
    ('lever', 'math.sin')
    """
    return name if str(module).partition(".")[0] == "workbench" else f"{module}.{name}"


def is_installed(module: str) -> bool:
    """Return whether a module belongs to Python or to an installed package."""
    if module in ("__main__", "__mp_main__"):
        return False
    if module in sys.builtin_module_names:
        return True
    loaded = sys.modules.get(module)
    if loaded is None:
        top = sys.modules.get(module.partition(".")[0])
        return top is not None and top is not loaded and "." in module and is_installed(module.partition(".")[0])
    return _lies_installed(_place_of(loaded))


def will_be_installed(module: str) -> bool:
    """Return whether a module, which need not be imported yet, belongs to Python or to an installed package.

    >>> will_be_installed("scipy.stats"), will_be_installed("no_such_module")
    (True, False)
    """
    top = module.partition(".")[0]
    if top in _DEPENDENCIES or top in sys.stdlib_module_names:
        return True
    if module in sys.modules:
        return is_installed(module)
    spec = importlib.util.find_spec(top)
    return spec is not None and _lies_installed(
        str(spec.origin or next(iter(spec.submodule_search_locations or ()), ""))
    )


def package_of(module: str) -> str:
    """Return how an id names an installed package: with its version, unless the workbench needs the package too.

    >>> package_of("numpy.linalg"), package_of("math")
    ('numpy', 'math')
    """
    top = module.partition(".")[0]
    if top in _DEPENDENCIES or top in sys.builtin_module_names or top in sys.stdlib_module_names:
        return top
    return f"{top} {_version(top)}"


def _is_within(module: str, rooms: tuple[str, ...]) -> bool:
    return any(module == room or module.startswith(f"{room}.") for room in rooms)


def _place_of(module: ModuleType) -> str:
    """Return where a module lies; `frozen` where it is part of Python itself, empty where nowhere."""
    place = getattr(module, "__file__", None)
    if place is None:
        paths = list(getattr(module, "__path__", ()))
        origin = getattr(getattr(module, "__spec__", None), "origin", None)
        return str(paths[0]) if paths else origin if origin in ("built-in", "frozen") else ""
    return str(place)


@functools.lru_cache(4096)
def _lies_installed(place: str) -> bool:
    if place in ("built-in", "frozen"):
        return True
    return bool(place) and any(Path(os.path.abspath(place)).is_relative_to(folder) for folder in installed_folders())


@functools.cache
def installed_folders() -> tuple[Path, ...]:
    """Return the folders of the standard library and of installed packages."""
    paths = sysconfig.get_paths()
    named = [paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    more = [*site.getsitepackages(), site.getusersitepackages(), os.path.dirname(os.__file__)]
    return tuple(Path(os.path.abspath(path)) for path in dict.fromkeys([*named, *more]))


@functools.cache
def _version(top: str) -> str:
    if isinstance(message := getattr(sys.modules.get(top), "__version__", None), str):
        return message
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:
        names = importlib.metadata.packages_distributions().get(top, [])
        return importlib.metadata.version(names[0]) if names else "unknown"


Kind = Literal["global", "free", "import"]


class Reference(NamedTuple):
    """A name that code reads from outside."""

    kind: Kind
    name: str
    """Of an import, the module, with a dot in front for every level of a relative one."""
    chain: tuple[str, ...]
    """The attributes that are read from it directly; of an import, the names that are imported."""
    bare: bool = False
    """Whether what this gives is called without arguments."""


class Parsed(NamedTuple):
    """A code object taken apart, the functions within it included."""

    digest: str
    """Of all that is fixed: instructions, constants, parameters."""
    nameless: str
    """The same whatever the names are that stand for functions, constants and modules around it: by their turn."""
    references: tuple[Reference, ...]
    """In the order of their first use, each once."""
    attributes: frozenset[str]
    """The names of all attributes that are read, of whatever; `__doc__` also where it is a text, as for `getattr`."""
    free: tuple[str, ...]
    """The names of the closure variables in the order of their first use, whatever they are called."""


class _Instruction(NamedTuple):
    operation: int
    argument: int


_SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_SUPER_ATTR": 2, **({"LOAD_ATTR": 1} if sys.version_info >= (3, 12) else {})}
"""By how many flag bits the index of a name stands to the left."""
_GLOBALS = {dis.opmap[n] for n in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS") if n in dis.opmap}
_FREE = {dis.opmap[n] for n in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") if n in dis.opmap}
_CLOSURE = set(dis.hasfree)
_ATTRIBUTES = {dis.opmap[n] for n in ("LOAD_ATTR", "LOAD_METHOD") if n in dis.opmap}
_CALL = dis.opmap["CALL"]
_CONSTANTS = set(dis.hasconst)
_LOAD_GLOBAL, _NAMED = dis.opmap["LOAD_GLOBAL"], set(dis.hasname)
_IMPORT, _STORE = dis.opmap["IMPORT_NAME"], dis.opmap["STORE_NAME"]
_SMALL = dis.opmap.get("LOAD_SMALL_INT", -1)
_SKIPPED = {dis.opmap["CACHE"], dis.EXTENDED_ARG, dis.opmap["PUSH_NULL"]}
DOC = "__doc__"
_CLASS_NOTES = {DOC, "__firstlineno__", "__qualname__", "__static_attributes__"}
"""What the body of a class notes about its text."""
_FLAGS = 0x4 | 0x8 | 0x20 | 0x80 | 0x100 | 0x200
"""Variable arguments, generators and coroutines; the other flags say nothing about what is executed."""

_known: dict[int, tuple[CodeType, Parsed]] = {}


def parsed(code: CodeType) -> Parsed:
    """Take a code object apart, once as long as this process lives."""
    kept = _known.get(id(code))
    if kept is None:
        kept = _known[id(code)] = code, _parsed(code)
    return kept[1]


def _parsed(code: CodeType) -> Parsed:
    inner: list[Parsed] = []
    instructions = list(_instructions(code))
    stream: list[int] = []
    constants: list[str] = []
    free: dict[str, int] = {}
    for place, (operation, argument) in enumerate(instructions):
        if operation in _CONSTANTS:
            if not _is_note(code, instructions, place):
                stream += (operation, -1)
                constants.append(_constant(code.co_consts[argument], inner))
        elif operation in _CLOSURE and (name := _closed_over(code, argument)):
            stream += (operation, -2 - free.setdefault(name, len(free)))
        else:
            stream += (operation, argument)
    arguments = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    fixed = (
        stream,
        constants,
        code.co_names,
        code.co_varnames[:arguments],
        (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags & _FLAGS),
        (len(code.co_cellvars), len(code.co_freevars)),
        code.co_exceptiontable.hex(),
    )
    references = [*_references(code, instructions), *(r for one in inner for r in one.references)]
    read = {_name(code, *one) for one in instructions if one.operation in _ATTRIBUTES}
    requested = {DOC} if DOC in code.co_consts else set()
    attributes = read.union(requested, *(one.attributes for one in inner))
    return Parsed(
        _digest(fixed),
        _digest((_nameless_stream(stream), _by_turn(code, instructions), _nameless(constants, inner), *fixed[3:])),
        tuple(dict.fromkeys(references)),
        frozenset(attributes),
        tuple(dict.fromkeys((*free, *code.co_freevars))),
    )


def _digest(parts: object) -> str:
    return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def _by_turn(code: CodeType, instructions: list[_Instruction]) -> list[tuple[str, int]]:
    """Return which names instructions read: of what is global or imported the turn at which it is read first."""
    turns: dict[str, int] = {}
    names = []
    for operation, argument in instructions:
        if operation in _NAMED:
            name, flags = _name(code, operation, argument), argument & (1 << _SHIFTS.get(dis.opname[operation], 0)) - 1
            by_turn = operation in (_LOAD_GLOBAL, _IMPORT)
            names.append((f"#{turns.setdefault(name, len(turns))}" if by_turn else name, flags))
    return names


def _nameless_stream(stream: list[int]) -> list[int]:
    """Return operations and arguments without which name an operation reads."""
    pairs = zip(stream[::2], stream[1::2], strict=True)
    return [part for operation, argument in pairs for part in (operation, -1 if operation in _NAMED else argument)]


def _nameless(constants: list[str], inner: list[Parsed]) -> list[str]:
    """Return constants with each function among them as it is whatever the names around it are."""
    nameless = {one.digest: one.nameless for one in inner}
    return [nameless.get(constant, constant) for constant in constants]


def _closed_over(code: CodeType, argument: int) -> str:
    """Return the name of a closure variable that was made elsewhere, empty where it is made here."""
    name: str = code._varname_from_oparg(argument)  # type: ignore[attr-defined]
    return name if name in code.co_freevars else ""


def _instructions(code: CodeType) -> Iterator[_Instruction]:
    extended = 0
    words = code.co_code
    for place in range(0, len(words), 2):
        operation, argument = words[place], words[place + 1] | extended
        extended = argument << 8 if operation == dis.EXTENDED_ARG else 0
        if operation not in _SKIPPED:
            yield _Instruction(operation, argument)


def _is_note(code: CodeType, instructions: list[_Instruction], place: int) -> bool:
    """Return whether a constant is what the body of a class notes about its text."""
    if place + 1 == len(instructions) or instructions[place + 1].operation != _STORE:
        return False
    return code.co_names[instructions[place + 1].argument] in _CLASS_NOTES


def _constant(value: Any, inner: list[Parsed]) -> str:
    if isinstance(value, CodeType):
        inner.append(parsed(value))
        return inner[-1].digest
    if isinstance(value, tuple):
        return f"({','.join(_constant(item, inner) for item in value)})"
    if isinstance(value, frozenset):
        return "{" + ",".join(sorted(_constant(item, inner) for item in value)) + "}"
    return f"{type(value).__name__}:{value.hex() if isinstance(value, float) else repr(value)}"


def _references(code: CodeType, instructions: list[_Instruction]) -> Iterator[Reference]:
    for place, (operation, argument) in enumerate(instructions):
        if operation in _GLOBALS:
            chain = _chain(code, instructions, place)
            bare = _is_bare_call(instructions, place + 1 + len(chain))
            yield Reference("global", _name(code, operation, argument), chain, bare)
        elif operation in _FREE:
            yield Reference("free", code._varname_from_oparg(argument), _chain(code, instructions, place))  # type: ignore[attr-defined]
        elif operation == _IMPORT:
            level, names = (_loaded(code, instructions[place - back]) for back in (2, 1))
            yield Reference("import", "." * level + code.co_names[argument], tuple(names or ()))


def _chain(code: CodeType, instructions: list[_Instruction], place: int) -> tuple[str, ...]:
    """Return the attributes that are read one after the other from what an instruction loads."""
    names = []
    for operation, argument in instructions[place + 1 :]:
        if operation not in _ATTRIBUTES:
            break
        names.append(_name(code, operation, argument))
    return tuple(names)


def _is_bare_call(instructions: list[_Instruction], place: int) -> bool:
    """Return whether something is called without arguments from a place on."""
    following = (one for one in instructions[place:] if dis.opname[one.operation] != "PRECALL")
    return (match := next(following, None)) is not None and match == (_CALL, 0)


def _name(code: CodeType, operation: int, argument: int) -> str:
    return code.co_names[argument >> _SHIFTS.get(dis.opname[operation], 0)]


def _loaded(code: CodeType, instruction: _Instruction) -> Any:
    return instruction.argument if instruction.operation == _SMALL else code.co_consts[instruction.argument]


class Unseen(NamedTuple):
    """Why something is refused, and what to do instead."""

    what: str
    cure: str
    only_without_arguments: bool = False


_BY_NAME = Unseen("which finds values and code by a name that no id can follow", "name them directly")
_RANDOM = Unseen("whose value is another each time", "draw from np.random.default_rng(seed)")
_UNSEEDED = Unseen("which draws from no seed", "give it a seed", only_without_arguments=True)


def unseen(value: Any, without_arguments: bool = False) -> Unseen | None:
    """Return why a value is refused, None where it is not.

    Parameters
    ----------
    value : object
        What code refers to.
    without_arguments : bool
        Whether it is called with nothing in its brackets.

    Examples
    --------
    >>> unseen(eval).cure
    'name them directly'
    >>> unseen(len)
    """
    _, result = _table().get(id(value), (None, None))
    return result if result is not None and (without_arguments or not result.only_without_arguments) else None


@functools.cache
def _table() -> dict[int, tuple[Any, Unseen]]:
    """Return what is refused by its address; each thing is kept, so that no other one can take its place."""
    draws = [getattr(secrets, name) for name in secrets.__all__ if name != "compare_digest"]
    seeded = ("default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    refused = {
        _BY_NAME: [globals, eval, exec, builtins.__import__, importlib.import_module, sys.modules],
        _RANDOM: [*draws, os.urandom, uuid.uuid1, uuid.uuid4, random.SystemRandom],
        _UNSEEDED: [random.Random, *(getattr(np.random, name) for name in seeded)],
    }
    return {id(thing): (thing, why) for why, things in refused.items() for thing in things}
