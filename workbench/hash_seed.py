"""The hash seed of this process, by which Python orders a set of texts: fixed, or another one in each process.

Code of the user's that goes through such a set gives the same numbers everywhere only where all processes that compute
rows have one seed. It is read when Python starts and cannot be set later.
"""

from __future__ import annotations

import os
import sys

VARIABLE = "PYTHONHASHSEED"
FIXED = "6640"
"""The seed that every process which computes rows of a user's code has.

Dask gives its own workers this one, whatever their environment says (`distributed/nanny.py`); so it is everybody's.
"""

ENVIRONMENT = {VARIABLE: FIXED}
"""What stands in the environment of such a process when it is started."""

_PROBE = -2670838690416588620
"""The hash of the variable's name under that seed, where texts are hashed as in `_PROBED`."""
_PROBED = ("siphash13", 64, "little")


def hash_seed() -> str:
    """Return the seed by which this process orders sets of texts; `drawn` where no other process can have the same.

    Whether it is the fixed one shows in a hash: the environment may have been changed since Python read it.

    >>> hash_seed() == FIXED or not has_fixed_hash_seed()
    True
    """
    if not sys.flags.hash_randomization:
        return "0"
    if (sys.hash_info.algorithm, sys.hash_info.width, sys.byteorder) == _PROBED:
        if hash(VARIABLE) == _PROBE:
            return FIXED
        return _given() if _given() != FIXED else "drawn"
    return _given()


def has_fixed_hash_seed() -> bool:
    """Return whether this process orders sets of texts as every worker does."""
    return hash_seed() == FIXED


def _given() -> str:
    """Return the seed that the environment gives."""
    given = "" if sys.flags.ignore_environment else os.environ.get(VARIABLE, "")
    return given if given.isdecimal() and int(given) else "drawn"
