"""What code of a user's may not read, as every run would differ: it is refused by name at once, with the cure.

Files, variables of the environment and clocks may be read: what is read is kept with the rows, and runs are repeated.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import os
import random
import secrets
import sys
import uuid
from typing import Any, NamedTuple

import numpy as np


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
    if result is None:
        return None
    return result if without_arguments or not result.only_without_arguments else None


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
