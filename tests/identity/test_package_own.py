"""The workbench's own code is looked at anew for every plan, though it is walked only where a look finds an edit."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from tests.work_counts import instructions
from workbench.identity import current, digest_of, one_moment, snapshot
from workbench.identity.code_digest import CodeHasher
from workbench.policies.placement import NearestBoundary

TEXT = """
import functools
from dataclasses import dataclass
import numpy as np
from workbench.levers import Spec, lever

AIM, TABLE, ROWS = 1, {"a": [1, 2]}, np.arange(4)
KNOWN, RAW, PAIR = {1, 2}, bytearray(b"ab"), (1, [2])

class Held:
    def __init__(self):
        self.inside = [1]

class Listed:
    STEP = 1

class Slotted:
    __slots__ = ("inside",)
    def __init__(self):
        self.inside = 1

class Ring(Spec):
    depth: int = lever(4, least=1, most=64, description="entries")
    def turns(self):
        return 1

HELD, SLOTTED, RING, MEMBERS = Held(), Slotted(), Ring(), frozenset({Listed})

@functools.singledispatch
def shown(value):
    return 1

def make(cell):
    def inner(see):
        return cell
    return inner

inner = make(5)

def helper(see, more=1):
    return AIM, TABLE, ROWS, KNOWN, RAW, PAIR, HELD, SLOTTED, RING, MEMBERS, shown, inner

class Base:
    STEP = 1

class Part(Base):
    def answer(see):
        return helper(see)
"""
NAME = "workbench.policies.written_by_a_test"

EDITS = {
    "a constant": "AIM = 2",
    "an item of a table": "TABLE['b'] = 1",
    "a list in a table": "TABLE['a'].append(3)",
    "an element of an array": "ROWS[1] = 7",
    "a set": "KNOWN.add(3)",
    "bytes": "RAW[0] = 1",
    "a list in a tuple": "PAIR[1].append(3)",
    "an attribute of an object": "HELD.inside = 3",
    "a list of an object": "HELD.inside.append(2)",
    "a slot of an object": "SLOTTED.inside = 2",
    "a method of the class of an object": "Held.more = lambda self: 2",
    "a method of a spec's class": "Ring.turns = lambda self: 2",
    "a class in a set": "Listed.STEP = 5",
    "what is called for a type": "shown.register(int, lambda value: 2)",
    "a closure": "inner.__closure__[0].cell_contents = 6",
    "a default": "helper.__defaults__ = (2,)",
    "the code of a helper": "helper.__code__ = (lambda see, more=1: AIM).__code__",
    "a base's attribute": "Base.STEP = 2",
    "an attribute of the class": "Part.MORE = 1",
    "the answer": "Part.answer = lambda see: AIM",
    "the bases": "Part.__bases__ = (Held,)",
}


@pytest.fixture
def module() -> Iterator[ModuleType]:
    made = ModuleType(NAME)
    sys.modules[NAME] = made
    exec(compile(TEXT, "written_by_a_test.py", "exec"), vars(made))
    yield made
    del sys.modules[NAME]


def _digests(module: ModuleType) -> list[str]:
    """Return the digest of a class as root, of what passes it, and of a function, as of a plan that is made now."""

    def answer(see: Any) -> Any:
        return module.Part.answer(see)

    with one_moment():
        return [current(module.Part).digest, digest_of(module.helper), snapshot(module.Part, answer).digest]


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_edit_in_memory_is_seen_by_the_next_plan(module, edit):
    before = _digests(module)
    assert _digests(module) == before
    exec(edit, vars(module))
    after = _digests(module)
    of_helper = edit.startswith(("Base", "Part"))
    assert [one != other for one, other in zip(before, after)] == [True, not of_helper, True]


RENAMED = {"helper": "with_tables", "AIM": "GOAL", "TABLE": "ROOMS", "make": "made", "inner": "looking", "HELD": "KEPT"}
SWAPPED = {"PAIR, HELD, SLOTTED": "PAIR, SLOTTED, HELD", "helper(see)": "shown(see)"}


def _digests_of(text: str, name: str) -> list[str]:
    made = ModuleType(name)
    sys.modules[name] = made
    try:
        exec(compile(text, f"{name}.py", "exec"), vars(made))
        with one_moment():
            return [current(made.Part).digest, digest_of(made.Part.answer)]
    finally:
        del sys.modules[name]


def test_a_digest_does_not_hold_where_the_workbench_keeps_its_code_nor_what_functions_around_it_are_called():
    """So that rows outlive a move; what a user names counts, for the user's code may change what a name stands for."""
    before = _digests_of(TEXT, NAME)
    renamed = re.sub(r"\b\w+\b", lambda word: RENAMED.get(word[0], word[0]), TEXT)
    assert renamed.count("GOAL") == TEXT.count("AIM")
    assert _digests_of(renamed, "workbench.elsewhere.moved_by_a_test") == before
    assert _digests_of(renamed, "module_of_a_user") != _digests_of(TEXT, "module_of_a_user")
    for one, other in SWAPPED.items():
        assert _digests_of(other.join(TEXT.rsplit(one, 1)), NAME) != before
    assert _digests_of(TEXT.replace("AIM, TABLE, ROWS = 1", "AIM, TABLE, ROWS = 2"), NAME) != before


def test_what_is_as_it_was_is_not_walked_again():
    """A look is a comparison an item, of all that a walk would put in words."""

    def look() -> str:
        with one_moment():
            return current(NearestBoundary).digest

    first = look()
    assert instructions(look) * 5 < instructions(lambda: _walked(NearestBoundary))
    assert look() == first


def _walked(cls: type) -> None:
    CodeHasher(None).digest(cls)
