"""`kernel`: a plain function over arrays and numbers, compiled once and kept on disk.

With `NUMBA_DISABLE_JIT=1` every kernel stays the Python function that it was written as: for debugging, for line coverage,
and as the reference that compiled results are compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from workbench.compiled.cache import cache_folder

INTERPRETED = bool(numba.config.DISABLE_JIT)
"""True when kernels run as plain Python."""

_FOLDER = str(cache_folder())
_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function lazily, keep it on disk, release the interpreter's lock while it runs."""
    return compiled(function, None, keep=True, nrt=False)


def allocating(function: _Function) -> _Function:
    return compiled(function, None, keep=True)


def compiled(function: _Function, signature: Any, keep: bool, checked: bool = False, nrt: bool = True) -> _Function:
    """Compile a function; `keep` stores it in the digest's folder, `checked` tests every index."""
    theirs, numba.config.CACHE_DIR = numba.config.CACHE_DIR, _FOLDER
    try:
        options = {
            "cache": keep,
            "nogil": True,
            "boundscheck": checked,
            "error_model": "numpy",
            "_nrt": nrt,
            "forceinline": not nrt,
        }
        return numba.njit(signature, **options)(function) if signature else numba.njit(**options)(function)
    finally:
        numba.config.CACHE_DIR = theirs
