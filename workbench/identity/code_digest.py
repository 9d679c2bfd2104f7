"""Digest of the code that a run executes: functions, classes and modules, and the values that they refer to."""

from __future__ import annotations

import builtins
import dataclasses
import enum
import functools
import hashlib
import importlib.util
import sys
from collections import deque
from collections.abc import Callable, Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import msgspec

from workbench.identity.bytecode import DOC, Reference, parsed
from workbench.identity.guards import MISSING, content
from workbench.identity.numba_values import is_numba, numba_value, overloads
from workbench.identity.owner import (
    Owner,
    label,
    module_of_class,
    owner_of,
    owner_of_class,
    owner_of_function,
    will_be_installed,
)
from workbench.identity.refusal import is_random, unseen
from workbench.identity.transcript import Transcript
from workbench.identity.value_encoders import ENCODERS, attached, encode_other, undigestible

_NOT_CODE = ("__dict__", "__weakref__", "__init_subclass__", "__subclasshook__")
_KEPT_BY_PYTHON = ("_abc_impl", "_value2member_map_")
"""Where Python keeps what it was asked of a class: subclasses, and members of an enumeration by their values, to which
it adds flags that are set together."""
_NOTES = (
    *("__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__doc__"),
    *("__firstlineno__", "__match_args__", "__module__", "__orig_bases__", "__parameters__", "__qualname__"),
    *("__slotnames__", "__slots__", "__static_attributes__", "__describes__", "__annotate__", "__annotate_func__"),
)
"""What Python notes about a class; what it does follows from the rest."""
_OF_MODULES = (
    *("__annotations__", "__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"),
    *("__package__", "__path__", "__spec__"),
)
"""What Python notes about a module."""
_by_type: Any = functools.singledispatch(len)
_BY_TYPE = _by_type.__code__
"""What every function of `functools.singledispatch` executes."""
_READ_ANNOTATIONS = ("__annotations__", "get_annotations", "get_type_hints", "signature")
"""What reads annotations, whoever's it is."""
_TEXT = ("__doc__", "__annotations__", "__firstlineno__", "__static_attributes__")
"""The attributes of classes and functions that are text alone."""
_DESCRIBES = "__describes__"
"""The attribute of a class that names those of its attributes that say nothing about what is executed."""


class CodeHasher(Transcript):
    """Digest of code and values; each function and class is visited once and named by its turn.

    Of names it takes what they stand for at this moment.
    """

    def __init__(self, sub: Callable[[Any], str] | None, root: Any = None) -> None:
        super().__init__(sub, root)
        self._order: dict[int, int] = {}
        self._queue: deque[tuple[Any, bool, Callable[[Any], None]]] = deque()
        self._visited: list[Any] = []
        self._reads_texts = self._reads_annotations = self._reads_subclasses = False

    def digest(self, *things: Any) -> str:
        """Visit some things and return 32 hexadecimal digits of BLAKE2b."""
        for thing in things:
            self.value(thing)
            self._drain_queue()
        if self._reads_subclasses:
            self._subclasses()
        if self._reads_annotations:
            self._annotations()
        if self._reads_texts:
            self._texts()
        return hashlib.blake2b("\0".join(self.tokens).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _drain_queue(self) -> None:
        while self._queue:
            self.current, self.is_user_code, visit = self._queue.popleft()
            self.put("turn", str(self._order[id(self.current)]))
            self.inside(self.current.__qualname__, visit, self.current)

    def _subclasses(self) -> None:
        """Write down the subclasses of all classes that were passed: some of the user's code asks one for its own."""
        self.is_user_code, place = not self.lenient, 0
        while place < len(self._visited):
            if isinstance(cls := self._visited[place], type):
                self.put("subclasses")
                self.value(type.__subclasses__(cls))
                self._drain_queue()
            place += 1

    def _annotations(self) -> None:
        """Write down the annotations of all that was passed: some of the user's code reads one."""
        for thing in self._visited:  # which grows by what annotations refer to
            self.value(getattr(thing, "__annotations__", None) or {})
            self._drain_queue()

    def _texts(self) -> None:
        """Write down the docstrings of all that was passed: some of the user's code reads one, and it is not known
        which."""

        def again() -> str:
            return repr([getattr(thing, DOC, None) for thing in self._visited])

        self.put("docstrings", again())
        self.guards.value(again, again(), DOC)

    def value(self, value: Any) -> None:
        """Write a value down, or what a function or a class is made of."""
        self._check(value)
        plain = ENCODERS.get(type(value))
        if plain is not None:
            plain(self, value)
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, type):
            self._type(value)
        elif isinstance(value, ModuleType):
            self._module(value)
        else:
            encode_other(self, value)
        if self.is_user_code and attached(value) and id(value) not in self.open_values:
            self.put("attached")
            self.changeable(value, lambda hasher, value: hasher.value(attached(value)))

    @property
    def _named_by_place(self) -> bool:
        """Return whether what is passed now is the workbench's own, whose functions and modules may be renamed."""
        return not self.is_user_code

    def _check(self, value: Any, bare: bool = False) -> None:
        """Refuse what the user's code may not read."""
        if self.is_user_code and (why := unseen(value, bare)):
            raise self.refuse(value, why.what, why.cure)

    def enqueue(self, thing: Any, is_user_code: bool, visit: Callable[[Any], None]) -> None:
        """Write down the turn of a thing, and put it in the queue where it has none yet."""
        if id(thing) not in self._order:
            self._order[id(thing)] = len(self._order)
            self._visited.append(thing)
            self._queue.append((thing, is_user_code, visit))
        self.put("at", str(self._order[id(thing)]))

    def _by_owner(self, thing: Any, owner: Owner, module: str | None, visit: Callable[[Any], None]) -> bool:
        """Write down what is not the user's, or the turn of what is; False of an installed thing."""
        if owner == "machinery":
            self.put("machinery", label(module, thing.__qualname__))
        elif owner == "installed":
            self.named(str(module), thing.__qualname__)
            return False
        elif owner == "workbench" and self.digest_part is not None and thing is not self.root:
            digest = self.digest_part(thing)
            self.parts.append((thing, digest))
            self.put("workbench", digest)
        else:
            if owner == "user" and module and owner_of(module) == "user":
                self.modules.setdefault(module, set())
            self.enqueue(thing, owner == "user", visit)
        return True

    def _function(self, function: FunctionType) -> None:
        owner, module = owner_of_function(function), function.__module__ or function.__globals__.get("__name__")
        if owner == "user" and owner_of(module) != "user":
            module = function.__globals__["__name__"]
        if function.__code__ is _BY_TYPE:
            self._by_type(function)
        elif not self._by_owner(function, owner, module, self._visit_function) and "<locals>" in function.__qualname__:
            for cell in function.__closure__ or ():
                self.value(content(cell))

    def _by_type(self, function: Any) -> None:
        """Write down a function of `functools.singledispatch` by what it calls for which class."""
        self.put("by type")
        with self.once(function) as first:
            if first:
                self.value(list(function.registry.items()))
        again = functools.partial(_addresses, function.registry)
        self.notes.value(again, again(), self.location)

    def _visit_function(self, function: FunctionType) -> None:
        code = parsed(function.__code__)
        self.put("code", code.nameless if self._named_by_place else code.digest)
        self.notes.function(function)
        if self.is_user_code:
            self.functions.append(function)
            names = code.attributes.union(reference.name for reference in code.references)
            self._reads_texts |= DOC in code.attributes
            self._reads_annotations |= not names.isdisjoint(_READ_ANNOTATIONS)
            self._reads_subclasses |= "__subclasses__" in names
            for instead in overloads(function):
                self.inside("overload", self.value, instead)
        self.value(function.__defaults__)
        self._attributes(function.__kwdefaults__ or {}, lambda name, value: True)
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
        for name in code.free:
            self.inside(name, self._cell, cells[name], name, code.references)
        for reference in code.references:
            if reference.kind != "free":
                self.inside(".".join((reference.name, *reference.chain)), self._reference, function, reference)
        self._attributes(vars(function), lambda name, value: name not in _TEXT)

    def _attribute(self, name: str, value: Any) -> None:
        self.put("attribute", name)
        self.value(value)

    def _cell(self, cell: CellType, name: str, references: tuple[Reference, ...]) -> None:
        self.notes.cell(cell, self.location)
        self.put("cell")
        value = content(cell)
        if isinstance(value, ModuleType):
            for reference in references:
                if reference.kind == "free" and reference.name == name:
                    self.chain(value, reference.chain)
        else:
            self.value(value)

    def _reference(self, function: FunctionType, reference: Reference) -> None:
        if reference.kind == "import":
            self._import(function, reference)
            return
        namespace = function.__globals__
        value = namespace.get(reference.name, MISSING)
        self.notes.name(namespace, reference.name, value, self.location)
        if value is MISSING:
            value = getattr(builtins, reference.name, MISSING)
        self.put("name", "" if self._named_by_place and value is not MISSING else reference.name)
        if reference.bare:
            self._check(_at_the_end(value, reference.chain), bare=True)
        self._read(value, reference.chain)

    def _read(self, value: Any, names: tuple[str, ...]) -> None:
        """Write down a value, of a module the attributes that are read from it."""
        if isinstance(value, ModuleType):
            self.chain(value, names)
        else:
            self.value(value)

    def _import(self, function: FunctionType, reference: Reference) -> None:
        space = function.__globals__
        package = space.get("__package__") or space.get("__name__", "").rpartition(".")[0]
        try:
            beside = not package and reference.name[:1] == "."  # in a file of a user's, of no package
            name = reference.name[1:] if beside else importlib.util.resolve_name(reference.name, package or None)
            self.put("import", "" if self._named_by_place else name.rpartition(".")[2])
            if owner_of(name) in ("workbench", "machinery"):
                names = " ".join(reference.chain)
                self.put("machinery", names if self._named_by_place else f"{name} {names}")
                return
            anything: Any = function
            load = anything.__builtins__["__import__"]
            by_name = load is builtins.__import__ and will_be_installed(name)
            wanted = ("__name__",) if name else reference.chain
            module = None if by_name else load(name, space, None, wanted, int(beside))
        except ImportError as problem:
            raise self.refuse(reference.name, f"which cannot be imported ({problem})") from None
        if module is None or owner_of(module.__name__) == "installed":
            for attribute in reference.chain or ("",):
                self._outside(name, (attribute,))
            return
        if not reference.chain:  # then what is bound is the outermost package
            parts = module.__name__.split(".")
            for count in range(len(parts)):
                self.chain(sys.modules[".".join(parts[: count + 1])], ())
        for attribute in reference.chain:
            self.chain(module, (attribute,))

    def chain(self, module: ModuleType, names: tuple[str, ...]) -> None:
        """Write down what attributes, one of the other, of a module are; without any, all of the module."""
        if not names:
            self._module(module)
            return
        self.put("attributes", ".".join(names))
        owner = owner_of(module.__name__)
        if owner == "machinery":
            self.put("machinery", label(module.__name__, ".".join(names)))
            return
        if owner == "installed":
            self._outside(module.__name__, names)
            return
        name, *rest = names
        read = self.modules.setdefault(module.__name__, set()) if owner == "user" else set()
        read.add(name)
        value = vars(module).get(name, MISSING)
        if value is MISSING:
            value = sys.modules.get(f"{module.__name__}.{name}", MISSING)
        if value is MISSING and module.__name__ == "workbench":  # whose words are imported when they are first used
            value = getattr(module, name, MISSING)
        self.notes.name(vars(module), name, value, self.location)
        if value is MISSING and (requested := vars(module).get("__getattr__")) is not None:
            read.add("__getattr__")
            self.value(requested)
        self._read(value, tuple(rest))

    def _outside(self, module: str, names: tuple[str, ...]) -> None:
        """Write down something of an installed module by its name; refuse what draws from a state that it hides."""
        self.named(module, ".".join(names))
        value: Any = sys.modules.get(module, MISSING)
        for name in names:
            value = getattr(value, name, MISSING) if isinstance(value, ModuleType) else MISSING
            self._check(value)
        hidden = getattr(value, "__self__", None)
        if hidden is not None and not isinstance(hidden, (ModuleType, type)):
            if is_random(hidden):
                undigestible(self, hidden)
            else:
                self.value(hidden)

    def _module(self, module: ModuleType) -> None:
        """Write down a whole module: of the user's own, all that it holds."""
        owner = owner_of(module.__name__)
        if owner == "installed":
            self.named(module.__name__, "")
        elif owner != "user":
            self.put("machinery", label(module.__name__, ""))
        elif id(module) in self._order:
            self.put("at", str(self._order[id(module)]))
        else:
            self._order[id(module)] = len(self._order)
            self.modules.setdefault(module.__name__, set()).update(vars(module))
            self._attributes(vars(module), lambda name, value: name not in _OF_MODULES)

    def _type(self, cls: type) -> None:
        if is_numba(type(cls)):
            numba_value(self, cls)
        else:
            self._by_owner(cls, owner_of_class(cls), module_of_class(cls), self._visit_type)

    def _visit_type(self, cls: type) -> None:
        self.notes.type(cls)
        self.put("class", cls.__name__)
        if type(cls) is not type:
            self.value(type(cls))
        for base in cls.__bases__:
            self.value(base)
        if self.is_user_code:
            self._fields(cls)
        describes = {name for base in cls.__mro__ for name in vars(base).get(_DESCRIBES, ())}
        same = self._inherited(cls) if self.is_user_code else ()
        self._attributes(vars(cls), lambda name, value: not (name in describes or name in same) and _executes(name))

    def _inherited(self, cls: type) -> set[str]:
        """Return the names of attributes that are the very objects of a base: a copy in a worker inherits them."""
        above = {name: value for base in reversed(cls.__bases__) for name, value in vars(base).items()}
        same = {name: value for name, value in vars(cls).items() if above.get(name, MISSING) is value}
        for name, value in same.items():
            self.notes.name(vars(cls), name, value, ": ".join((*self.path, name)))
        return set(same)

    def _fields(self, cls: type) -> None:
        """Write down what a class holds elsewhere than in its namespace: what fields say, the values of members of an
        enumeration, the defaults of a struct."""
        for name, one in vars(cls).get("__dataclass_fields__", {}).items():
            made_by = None if isinstance(one.default_factory, type(dataclasses.MISSING)) else one.default_factory
            if one.metadata or made_by is not None:
                self.put("field", name)
                self.value([dict(one.metadata), made_by])
        if isinstance(cls, enum.EnumMeta):
            members: dict[str, Any] = dict(cls.__members__)
            self.value({name: member._value_ for name, member in members.items()})
        if isinstance(cls, msgspec.StructMeta):
            self.put("struct", " ".join(cls.__struct_fields__))
            self.value([getattr(one, "factory", one) for one in cls.__struct_defaults__])

    def _attributes(self, space: Mapping[str, Any], wanted: Callable[[str, Any], bool]) -> None:
        for name, value in sorted(space.items()):
            if wanted(name, value):
                self.notes.name(space, name, value, ": ".join((*self.path, name)))
                self.inside(name, self._attribute, name, value)


def _executes(name: str) -> bool:
    """Return whether an attribute of a class is code or a value that code may read."""
    if name.startswith("__") and name.endswith("__"):
        return name not in _NOT_CODE and name not in _NOTES
    return name not in _KEPT_BY_PYTHON


def _at_the_end(value: Any, names: tuple[str, ...]) -> Any:
    """Return the values of attributes of modules, one of the other."""
    for name in names:
        value = vars(value).get(name, MISSING) if isinstance(value, ModuleType) else MISSING
    return value


def _addresses(registry: Mapping[Any, Any]) -> str:
    return " ".join(f"{id(cls)}:{id(function)}" for cls, function in registry.items())
