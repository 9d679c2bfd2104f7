"""The parts that installed packages bring: entry points of the group `workbench.parts`.

    [project.entry-points."workbench.parts"]
    "policy.placement.gap_fit" = "my_package.policies:GapFit"

The name of an entry point says what it brings, so that names are known without importing the package. A part is
imported when it is used. The code of such a package is digested as the user's own is.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.errors import InputError, unknown_name

GROUP = "workbench.parts"
KINDS = {
    "policy": "QUESTION",
    "engine": "",
    "measure": "ENGINE",
    "figure": "ENGINE",
    "generator": "",
    "importer": "",
    "preset": "MACHINE",
    "claim": "",
    "dashboard": "",
    "circuit": "",
    "executor": "",
}
"""The kinds of part, each with what stands between the kind and the name."""


class Guest(NamedTuple):
    """A part that an installed package brings."""

    kind: str
    within: str
    """The question, the engine or the machine that the part belongs to; empty where the kind has none."""
    name: str
    place: str
    """Where the part is: `module:attribute`."""
    package: str
    """The package with its version."""

    @property
    def entry(self) -> str:
        """Return the name of the entry point.

        >>> Guest("policy", "placement", "gap_fit", "mine:GapFit", "mine 1.0").entry
        'policy.placement.gap_fit'
        """
        return ".".join(part for part in (self.kind, self.within, self.name) if part)

    def says(self, problem: str) -> str:
        """Return a sentence about the entry point that names it and the package."""
        return f"{self.package}: the entry point {self.entry} = {self.place!r} {problem}"


def load(guest: Guest, is_part: Callable[[Any], bool], noun: str, named_by: str = "", within_by: str = "") -> Any:
    """Return the part of a package.

    Parameters
    ----------
    is_part : callable
        Whether a value is a part of the kind.
    noun : str
        What a message calls the part.
    named_by, within_by : str
        The attributes that hold a part's name and its question or engine; empty where a part has none.

    Raises
    ------
    InputError
        The package does not import, or it holds something else there; the sentence names the package and the entry
        point.
    """
    _loading.add(guest)
    try:
        value = _value(guest)
    finally:
        _loading.discard(guest)
    if isinstance(value, InputError):
        raise value
    if isinstance(value, (list, tuple)) and not is_part(value):
        value = next((one for one in value if getattr(one, named_by or "name", None) == guest.name), value)
    if not is_part(value):
        raise InputError(guest.says(f"must be a {noun}. Got {value!r:.80}."))
    if named_by and (own := str(getattr(value, named_by))) != guest.name:
        raise InputError(guest.says(f"gives {own}; the entry point and its part must have one name."))
    if within_by and (own := str(getattr(value, within_by))) != guest.within:
        raise InputError(guest.says(f"gives a {noun} of {own}; the entry point must name that."))
    return value


_loading: set[Guest] = set()


def is_loading(guest: Guest) -> bool:
    """Return True while the package of a part is imported for it."""
    return guest in _loading


@functools.cache
def _value(guest: Guest) -> Any:
    """Return the value at the place of a part, or the reason why it cannot be had."""
    try:
        return importlib.metadata.EntryPoint(guest.entry, guest.place, GROUP).load()
    except (Exception, SystemExit) as problem:
        return not_loaded(guest, problem)


def not_loaded(guest: Guest, problem: BaseException) -> InputError:
    """Return the sentence about a part whose package raises."""
    text = f"does not load ({type(problem).__name__}: {problem})"
    return InputError(guest.says(f"{text}; repair or remove the package."))


def guests(kind: str, within: str = "") -> Mapping[str, Guest]:
    """Return the parts of a kind that packages bring, by name; of a name that two packages bring, the first.

    Parameters
    ----------
    within : str
        The question, the engine or the machine; empty for all of them, or where the kind has none.
    """
    named: dict[str, Guest] = {}
    for one in _every():
        if one.kind == kind and within in ("", one.within):
            named.setdefault(one.name, one)
    return named


def rivals(guest: Guest) -> list[Guest]:
    """Return the parts of the same name that other packages bring."""
    return [one for one in _every() if one[:3] == guest[:3] and one != guest]


def every_guest() -> list[Guest]:
    """Return every part that a package brings."""
    return list(_every())


def problems() -> list[str]:
    """Return a sentence for each entry point of the group that is no part by its name."""
    return [one for one in _read() if isinstance(one, str)]


def guest_package(module: str) -> str:
    """Return the package, with its version, that brings parts and holds a module; empty for a module of no such one."""
    return _packages().get(module.partition(".")[0], "")


def is_guest(module: str) -> bool:
    """Return True if a module is of a package that brings parts."""
    return bool(guest_package(module))


@functools.cache
def _packages() -> dict[str, str]:
    return {one.place.partition(":")[0].partition(".")[0]: one.package for one in _every()}


@functools.cache
def _every() -> tuple[Guest, ...]:
    return tuple(one for one in _read() if isinstance(one, Guest))


@functools.cache
def _read() -> tuple[Guest | str, ...]:
    """Return every entry point of the group, in the order of the packages: the part, or what is wrong with its name."""
    return tuple(_parsed(importlib.metadata.entry_points(group=GROUP)))


def _parsed(entries: Iterable[importlib.metadata.EntryPoint]) -> Iterator[Guest | str]:
    for entry in sorted(entries, key=lambda one: (_package(one), one.name)):
        kind, _, rest = entry.name.partition(".")
        within, _, name = rest.partition(".") if KINDS.get(kind) else ("", "", rest)
        guest = Guest(kind, within, name, entry.value, _package(entry))
        whole = re.fullmatch(r"[\w.-]+", name) is not None and bool(within) == bool(KINDS.get(kind))
        if kind not in KINDS:
            yield f"{_package(entry)}: the entry point {entry.name}: {unknown_name('', 'kind', kind, KINDS)}"
        elif not whole:
            form = ".".join(part for part in (kind, KINDS[kind], "NAME") if part)
            yield f"{_package(entry)}: the entry point {entry.name} must be called {form}."
        else:
            yield guest


def _package(entry: importlib.metadata.EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else "a package"


def forget() -> None:
    """Read the entry points again when they are next needed, such as after a package was installed."""
    for remembered in (_read, _every, _packages, _value):
        remembered.cache_clear()
