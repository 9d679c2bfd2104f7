"""What a run cannot be named by, and the sentence that refuses it.

What code of a user's may not read, as every run would differ, is refused by name, with the cure. Files, variables of
the environment and clocks may be read: what is read is kept with the rows, and runs are repeated.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import inspect
import os
import random
import re
import secrets
import sys
import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.identity.owner import module_of_class


class Unseen(NamedTuple):
    """Why something is refused, and what to do instead."""

    what: str
    cure: str
    only_without_arguments: bool = False


_BY_NAME = Unseen("which finds values and code by a name that no id can follow", "name them directly")
_RANDOM = Unseen("whose value is another each time", "draw from np.random.default_rng(seed)")
_UNSEEDED = Unseen("which draws from no seed", "give it a seed", only_without_arguments=True)


def unseen(value: Any, without_arguments: bool = False) -> Unseen | None:
    """Return the reason why a value is refused, None where it is not.

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
    """Return the things that are refused by their addresses; each is kept, so that no other one can take its place."""
    draws = [getattr(secrets, name) for name in secrets.__all__ if name != "compare_digest"]
    seeded = ("default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    refused = {
        _BY_NAME: [globals, eval, exec, builtins.__import__, importlib.import_module, sys.modules],
        _RANDOM: [*draws, os.urandom, uuid.uuid1, uuid.uuid4, random.SystemRandom],
        _UNSEEDED: [random.Random, *(getattr(np.random, name) for name in seeded)],
    }
    return {id(thing): (thing, why) for why, things in refused.items() for thing in things}


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


def is_random(value: Any) -> bool:
    """Return whether a value draws random numbers from a state of its own."""
    return any((module_of_class(base).partition(".")[0], base.__name__) in _GENERATORS for base in type(value).__mro__)


_GENERATORS = {("random", "Random"), ("numpy", "Generator"), ("numpy", "RandomState"), ("numpy", "BitGenerator")}
