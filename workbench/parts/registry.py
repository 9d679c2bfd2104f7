"""Registries, each of the parts of one kind by name.

Policies, engines, importers, generators, measures, figures, claims and dashboards are all entered in a registry, the
package's own and the user's alike.
"""

from __future__ import annotations

import importlib
import inspect
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, Generic, NamedTuple, TypeVar

from workbench.errors import InputError, unknown_name
from workbench.guests import Guest, guest_package, guests, is_loading, load, not_loaded, rivals

T = TypeVar("T")

_registries: dict[str, list[Registry[Any]]] = {}
"""The registries of each kind."""


class Part(NamedTuple):
    """A part as tables show it."""

    kind: str
    name: str
    description: str
    built_in: bool
    """Whether it is part of this package; else it is the user's."""


class Guests(Generic[T]):
    """How the parts of a kind join that installed packages bring (`workbench.guests`)."""

    def __init__(
        self,
        kind: str,
        is_part: Callable[[Any], bool],
        within: str = "",
        named_by: str = "name",
        within_by: str = "",
        made: Callable[[Any], T] | None = None,
        home: Callable[[T], str] | None = None,
        more: Callable[[], Mapping[str, Guest]] = dict,
    ) -> None:
        """Say what a part is.

        Parameters
        ----------
        kind : str
            The kind of the entry points.
        is_part : callable
            Whether a value is such a part.
        within : str
            The question or the engine that the parts belong to; empty for all of them.
        named_by, within_by : str
            The attributes that hold a part's name and its question or engine; empty where parts have none.
        made : callable, optional
            From what a package holds to the part.
        home : callable, optional
            From a part to the module that defines it.
        more : callable
            Further parts, which packages bring in another way.
        """
        self._kind, self._is_part, self._within, self._named_by = kind, is_part, within, named_by
        self._within_by, self._made, self._home, self._more = within_by, made, home, more

    def known(self) -> Mapping[str, Guest]:
        """Return the parts by name; no package is imported."""
        return {**self._more(), **guests(self._kind, self._within)}

    def load(self, guest: Guest, noun: str) -> T:
        """Return the part of a package; errors as of `workbench.guests.load`."""
        value = load(guest, self._is_part, noun, self._named_by, self._within_by)
        try:
            return value if self._made is None else self._made(value)
        except InputError as problem:
            raise InputError(guest.says(f"is left out: {problem}")) from None
        except Exception as problem:
            raise not_loaded(guest, problem) from None

    def taken(self, name: str, part: Any) -> list[Guest]:
        """Return the parts of other packages that have the name of a part."""
        guest = self.known().get(name)
        home = guest_package(str(_place(part)[0] if self._home is None else self._home(part))) if guest else ""
        rest = [] if guest is None else [guest, *rivals(guest)]
        return [one for one in rest if one.package != home and not is_loading(one)]


class Registry(dict[str, T]):
    """The parts of one kind by name, those that are imported so far; `all` and `find` import the others.

    >>> colours = Registry("colour")
    >>> @colours.joined
    ... class Grey:
    ...     '''Neither black nor white.'''
    ...     name, built_in = "grey", False
    >>> colours.parts()
    [Part(kind='colour', name='grey', description='Neither black nor white.', built_in=False)]
    >>> colours.find("gray")
    Traceback (most recent call last):
    workbench.errors.InputError: unknown colour 'gray'; there are grey. Did you mean grey?
    """

    def __init__(
        self,
        kind: str,
        noun: str = "",
        later: Mapping[str, Callable[[], T]] | None = None,
        named_by: str = "name",
        guests: Guests[T] | None = None,
    ) -> None:
        """Make a registry.

        Parameters
        ----------
        kind : str
            What `remove` calls its parts; several registries may share one.
        noun : str
            What messages call a part; the kind if empty.
        later : mapping, optional
            Names of the package's own parts that are made when they are first asked for, each with what makes it.
        named_by : str
            What has to be changed where a name is taken, such as `class name`.
        guests : Guests, optional
            The parts that installed packages bring; left out, they bring none.
        """
        super().__init__()
        self.kind, self.noun, self._named_by = kind, noun or kind, named_by
        self._later = dict(later or {})
        self._guests = guests
        _registries.setdefault(kind, []).append(self)

    def __identity__(self) -> tuple[()]:
        """Return nothing: what a run depends on is digested as itself, wherever it is entered."""
        return ()

    def join(self, name: str, part: T) -> T:
        """Enter a part; the user's replaces one of the user's, but none of the package.

        Raises
        ------
        InputError
            The package has another part of that name.
        """
        before = self.get(name)
        taken = (before is not None and is_built_in(before)) or name in self._later
        if taken and not (is_built_in(part) and (before is None or _place(before) == _place(part))):
            raise InputError(f"{name} is already {_a(self.noun)} of the workbench; choose another {self._named_by}.")
        if self._guests is not None and not is_built_in(part) and (taken_by := self._guests.taken(name, part)):
            whose = " and of ".join(f"the package {one.package}" for one in taken_by)
            raise InputError(f"{name} is already {_a(self.noun)} of {whose}; choose another {self._named_by}.")
        self[name] = part
        return part

    def joined(self, part: T) -> T:
        """Enter a part under its own `name`, and return it: a decorator of classes."""
        return self.join(part.name, part)  # type: ignore[attr-defined]

    def names(self) -> list[str]:
        """Return every name, sorted, also of parts that are not imported yet."""
        return sorted({*self, *self._later, *self.guests()})

    def has(self, name: object) -> bool:
        """Return True if there is a part of a name, which need not be imported."""
        return name in self or name in self._later or name in self.guests()

    def guests(self) -> Mapping[str, Guest]:
        """Return the parts that installed packages bring, by name."""
        return {} if self._guests is None else self._guests.known()

    def all(self) -> dict[str, T]:
        """Return every part by name: the package's own in the order in which it lists them, then the user's.

        A part of an installed package that cannot be used is left out; `problems` says why.
        """
        for name in self._later:
            self._made(name)
        for name in self.guests():
            with suppress(InputError):
                self._made(name)
        return {name: self[name] for name in dict.fromkeys((*self._later, *self))}

    def problems(self) -> list[str]:
        """Return a sentence for each part of an installed package that cannot be used."""
        return [problem for guest in self.guests().values() if (problem := self.problem(guest))]

    def problem(self, guest: Guest) -> str:
        """Return the reason why a part of an installed package cannot be used; empty if it can."""
        try:
            if not is_built_in(self._made(guest.name)):
                return ""
        except InputError as problem:
            return str(problem)
        taken = f"is left out: {guest.name} is already {_a(self.noun)} of the workbench"
        return guest.says(f"{taken}; choose another {self._named_by}.")

    def find(self, name: Any, where: str = "", known: Mapping[str, Any] | None = None) -> T:
        """Return the part of a name.

        Parameters
        ----------
        where : str
            What stands in front of the sentence.
        known : mapping, optional
            The parts that may be named here, if not all.

        Raises
        ------
        InputError
            There is none of that name.
        """
        if known is None and type(name) is str and name in self:  # as every run asks
            return self[name]
        there: Mapping[str, Any] = ChainMap(self, self._later) if known is None else known
        if known is None and isinstance(name, str) and name not in there:
            there = ChainMap(self, self._later, dict(self.guests()))
        if not isinstance(name, str) or name not in there:
            raise unknown_name(where, self.noun, name, there)
        return self._made(name)

    def _made(self, name: str) -> T:
        if name not in self:
            made = self._later[name]() if name in self._later else self._of_package(name)
            self.setdefault(name, made)  # which some enter themselves
        return self[name]

    def _of_package(self, name: str) -> T:
        assert self._guests is not None
        guest = self.guests()[name]
        if others := rivals(guest):
            named = ", ".join(f"{one.package} ({one.place})" for one in (guest, *others))
            raise InputError(f"{name} is {_a(self.noun)} of several packages, {named}; remove all but one of them.")
        return self._guests.load(guest, self.noun)

    def parts(self) -> list[Part]:
        """Return every part as tables show it."""
        return [Part(self.kind, name, describe(part), is_built_in(part)) for name, part in self.all().items()]

    def keep_only(self, own: Mapping[str, T]) -> None:
        """Let the package's parts and some others, all of the user's that count, be the known ones."""
        wanted = {**{name: part for name, part in self.items() if is_built_in(part)}, **own}
        if wanted != dict(self):
            self.clear()
            self.update(wanted)

    def copy(self) -> Registry[T]:
        """Return the same in another registry, which `remove` does not know."""
        other: Registry[T] = Registry.__new__(Registry)
        other.__dict__.update(self.__dict__)
        other.update(self)
        return other


def attribute(place: str) -> Callable[[], Any]:
    """Return a function that imports `module:name` and returns it."""
    module, _, name = place.partition(":")
    return lambda: getattr(importlib.import_module(module), name)


def listed(tables: Iterable[Mapping[str, Iterable[str]]], named_by: str = "name") -> dict[str, Callable[[], Any]]:
    """Return the function that imports each part that stands in a list, by its name.

    Parameters
    ----------
    tables : iterable of mapping
        The names of the parts in each list, by its place.
    """

    def in_list(place: str, name: str) -> Callable[[], Any]:
        return lambda: next(part for part in attribute(place)() if getattr(part, named_by) == name)

    return {name: in_list(place, name) for table in tables for place, names in table.items() for name in names}


def remove(kind: str, name: str) -> None:
    """Take a part of the user's out again: a policy, an engine, an importer, a generator, a measure, a figure, a claim.

    Parameters
    ----------
    kind : str
        Such as `measure`.
    name : str
        Such as `slack`; a measure is removed from every engine that has it.

    Raises
    ------
    InputError
        There is no such kind or part, or it is one of the workbench's own.

    Examples
    --------
    >>> remove("colours", "grey")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: unknown kind of part 'colours'; there are ...
    """
    if kind not in _registries:
        raise unknown_name("", "kind of part", kind, _registries)
    holding = [registry for registry in _registries[kind] if name in registry.names()]
    own = [registry for registry in holding if name in registry and not is_built_in(registry[name])]
    if holding and not own:
        raise InputError(f"{name} is {_a(holding[0].noun)} of the workbench, which cannot be removed.")
    if not own:
        users = (n for registry in _registries[kind] for n, part in registry.items() if not is_built_in(part))
        raise unknown_name("", f"{kind} of yours", name, users)
    for registry in own:
        del registry[name]


def is_built_in(part: Any) -> bool:
    """Return True if a part is one of this package: by what it says, or by the module that defines it."""
    message = getattr(part, "built_in", None)
    return message if isinstance(message, bool) else str(_place(part)[0]).startswith("workbench.")


def describe(part: Any) -> str:
    """Return the description of a part, or the first sentence of its docstring."""
    for name in ("description", "says", "statement"):
        if isinstance(message := getattr(part, name, None), str):
            return message
    return first_paragraph(part.__doc__) if part.__doc__ != type(part).__doc__ or isinstance(part, type) else ""


def first_paragraph(docstring: str | None) -> str:
    """Return the first paragraph of a docstring on one line, empty where there is none.

    >>> first_paragraph('''Take the
    ...     lowest.
    ...
    ...     Ties are broken by chance.
    ...     ''')
    'Take the lowest.'
    """
    return " ".join(inspect.cleandoc(docstring or "").partition("\n\n")[0].split())


def _place(part: Any) -> tuple[Any, Any]:
    """Return the module that defines a part, or its class, and its name there."""
    one = part if hasattr(part, "__qualname__") else type(part)
    return one.__module__, one.__qualname__


def _a(noun: str) -> str:
    return f"{'an' if noun[:1] in 'aeiou' else 'a'} {noun}"
