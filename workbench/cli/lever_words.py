"""Levers in words: what each may be, what it is by default, and which classes have it."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from workbench.guests import is_guest
from workbench.levers import Lever, Spec
from workbench.number_text import BARE, MOST_DIGITS, number

NUMBERS = {"integer": "whole number", "number": "number", "integers": "list of whole numbers"}
WORDS = {**NUMBERS, "numbers": "list of numbers", "text": "text", "switch": "true or false"}
WITHOUT_LEVERS = ("__main__", "api", "cli", "compiled", "docs", "export", "figures")
"""Packages that are not looked through for levers: they declare none."""


def values_of_lever(one: Lever) -> str:
    """Return the domain of a lever.

    >>> values_of_lever(Lever("lines", "integer", 64, least=1, most=4096, scale="power_of_two"))
    'whole number from 1 to 4096, powers of two'
    """
    if one.kind == "choice":
        return f"one of {', '.join(one.choices)}"
    if one.kind in ("spec", "specs"):
        return f"{'list of ' if one.kind == 'specs' else ''}{_name_of(one.spec)}"
    return f"{WORDS[one.kind]}{_range(one)}{_scale(one)}"


def _name_of(spec: Any) -> str:
    noun = getattr(spec, "noun", "") or getattr(spec, "question", "") or getattr(spec, "name", "")
    return str(noun).replace("_", " ")


def _range(one: Lever) -> str:
    if one.least is not None and one.most is not None:
        return f" from {number(one.least, MOST_DIGITS, BARE)} to {number(one.most, MOST_DIGITS, BARE)}"
    if one.least is not None:
        return f" of at least {number(one.least, MOST_DIGITS, BARE)}"
    return f" of at most {number(one.most, MOST_DIGITS, BARE)}" if one.most is not None else ""


def _scale(one: Lever) -> str:
    step = f", in steps of {number(one.step, MOST_DIGITS, BARE)}" if one.step is not None else ""
    return step + {"linear": "", "log": ", logarithmic", "power_of_two": ", powers of two"}[one.scale]


def default_of_lever(one: Lever) -> str:
    """Return the default of a lever as a sweep writes it; empty where it must be given."""
    if one.required:
        return ""
    text = one.shortly(one.check(one.default))
    return text.lower() if one.kind == "switch" else text or '""'


def default_words(one: Lever) -> str:
    return "must be given" if one.required else f"default {default_of_lever(one)}"


def lever_line(one: Lever) -> str:
    """Return a lever in a line: its name, values, unit, default and description.

    >>> lever_line(Lever("lines", "integer", 64, least=1, unit="lines", description="how many there are"))
    'lines: whole number of at least 1 (lines), default 64: how many there are'
    """
    unit = f" ({one.unit})" if one.unit else ""
    return f"{one.name}: {values_of_lever(one)}{unit}, {default_words(one)}: {one.description}"


@functools.cache
def declared_levers() -> dict[str, list[type[Spec]]]:
    """Return every lever of the package by name, sorted, with the classes that have it."""
    _import_all()
    return _by_lever(lambda module: module.startswith("workbench."))


def guest_levers() -> dict[str, list[type[Spec]]]:
    """Return every lever of the installed packages that bring parts, by name, with the classes that have it.

    A part is imported before, or its package is not looked through.
    """
    return _by_lever(is_guest)


def _by_lever(is_meant: Callable[[str], bool]) -> dict[str, list[type[Spec]]]:
    """Return the levers of the classes in some modules, sorted; of a class that was defined again, the later one."""
    classes = {(cls.__module__, cls.__qualname__): cls for cls in _below(Spec) if is_meant(cls.__module__)}
    result: dict[str, list[type[Spec]]] = {}
    for _, cls in sorted(classes.items()):
        for name in (name for name in cls.levers if not name.startswith("_")):
            result.setdefault(name, []).append(cls)
    return dict(sorted(result.items()))


def _import_all() -> None:
    for package in pkgutil.iter_modules([str(Path(__file__).parent.parent)], "workbench."):
        if package.name.removeprefix("workbench.") in WITHOUT_LEVERS:
            continue
        module = importlib.import_module(package.name)
        for inside in pkgutil.walk_packages(getattr(module, "__path__", []), f"{package.name}."):
            if "__main__" not in inside.name:
                importlib.import_module(inside.name)


def _below(cls: type[Spec]) -> Iterator[type[Spec]]:
    for inner in cls.__subclasses__():
        yield inner
        yield from _below(inner)


def kind_of_spec(cls: type[Spec]) -> str:
    """Return the kind of thing that has levers: a policy of a question, a workload, a machine; empty for all else.

    >>> from workbench.policies.placement import NearestBoundary
    >>> kind_of_spec(NearestBoundary)
    'placement policy'
    """
    from workbench.levers import Family
    from workbench.machine import Described
    from workbench.policies.policy import Policy
    from workbench.workloads.workload import Generator

    if issubclass(cls, Policy):
        return f"{cls.question} policy"
    if issubclass(cls, Generator):
        return "workload"
    if issubclass(cls, Described):
        return "machine"
    return cls.noun if issubclass(cls, Family) else ""
