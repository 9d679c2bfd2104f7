"""What executes of a code object: instructions and constants, without names of files, line numbers and docstrings.

A code object is taken apart once; the names that it reads from outside are listed, to be looked up each time.
"""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Iterator
from itertools import takewhile
from types import CodeType
from typing import Any, Literal, NamedTuple

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
    """Return the names that instructions read: of what is global or imported the turn at which it is read first."""
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
    following = takewhile(lambda one: one.operation in _ATTRIBUTES, instructions[place + 1 :])
    return tuple(_name(code, *one) for one in following)


def _is_bare_call(instructions: list[_Instruction], place: int) -> bool:
    """Return whether something is called without arguments from a place on."""
    following = (one for one in instructions[place:] if dis.opname[one.operation] != "PRECALL")
    return (match := next(following, None)) is not None and match == (_CALL, 0)


def _name(code: CodeType, operation: int, argument: int) -> str:
    return code.co_names[argument >> _SHIFTS.get(dis.opname[operation], 0)]


def _loaded(code: CodeType, instruction: _Instruction) -> Any:
    return instruction.argument if instruction.operation == _SMALL else code.co_consts[instruction.argument]
