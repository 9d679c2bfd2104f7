"""What code of a user's may not read, since no id could tell what it gives: it is refused by name, with the cure."""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import random
import secrets
import sys
import time
import uuid
from typing import Any, NamedTuple

import numpy as np


class Unseen(NamedTuple):
    """Why something is refused, and what to do instead."""

    what: str
    cure: str
    only_in_policies: bool = False
    only_without_arguments: bool = False


_BY_NAME = Unseen("which finds values and code by a name that no id can follow", "name them directly")
_OUTSIDE = Unseen(
    "which reads what lies outside of the code",
    "read it when the module is imported: then its value is part of the id",
    True,
)
_CLOCK = Unseen("whose value is another each time", "use a number", True)
_RANDOM = Unseen("whose value is another each time", "draw from np.random.default_rng(seed)")
_UNSEEDED = Unseen("which draws from no seed", "give it a seed", only_without_arguments=True)

METHODS = {"read_text": _OUTSIDE, "read_bytes": _OUTSIDE}
"""Methods of paths, refused by their names alone."""


def unseen(value: Any, in_policy: bool, without_arguments: bool = False) -> Unseen | None:
    """Return why a value is refused, None where it is not.

    Parameters
    ----------
    value : object
        What code refers to.
    in_policy : bool
        Whether the code is a policy's: those of workloads may read files and clocks.
    without_arguments : bool
        Whether it is called with nothing in its brackets.

    Examples
    --------
    >>> unseen(eval, in_policy=False).cure
    'name them directly'
    >>> unseen(len, in_policy=True)
    """
    _, result = _table().get(id(value), (None, None))
    if result is None or (result.only_in_policies and not in_policy):
        return None
    return result if without_arguments or not result.only_without_arguments else None


@functools.cache
def _table() -> dict[int, tuple[Any, Unseen]]:
    """Return what is refused by its address; each thing is kept, so that no other one can take its place."""
    draws = [getattr(secrets, name) for name in secrets.__all__ if name != "compare_digest"]
    seeded = ("default_rng", "RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
    clocks = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time")
    refused = {
        _BY_NAME: [globals, eval, exec, builtins.__import__, importlib.import_module, sys.modules],
        _OUTSIDE: [open, os.open, os.environ, os.getenv, np.load, np.loadtxt, np.genfromtxt, np.fromfile],
        _CLOCK: [getattr(time, name) for name in clocks],
        _RANDOM: [*draws, os.urandom, uuid.uuid1, uuid.uuid4, random.SystemRandom],
        _UNSEEDED: [random.Random, *(getattr(np.random, name) for name in seeded)],
    }
    return {id(thing): (thing, why) for why, things in refused.items() for thing in things}
