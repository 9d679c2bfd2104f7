"""`kernel`: a plain function over arrays and numbers, compiled once and kept on disk.

With `NUMBA_DISABLE_JIT=1` every kernel stays the Python function that it was written as: for debugging, for line
coverage, and as the reference that compiled results are compared with.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import caching

from workbench.compiled.blas_later import import_blas_later
from workbench.compiled.by_symbol import KeepingCompiler
from workbench.compiled.cache import cache_folder, may_be_kept
from workbench.compiled.cache_locator import LOCATOR, KeptIndex
from workbench.compiled.call_slots import KernelCompiler
from workbench.compiled.meter import MeteredCompiler
from workbench.compiled.noinline import EntryPointCompiler, NoInlineCompiler

import_blas_later()
_config: Any = numba.config
_caching: Any = caching
INTERPRETED = bool(_config.DISABLE_JIT)
"""True when kernels run as plain Python."""

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compile a function that allocates nothing: inlined where it is called, without reference counting.

    Reference counts on the arrays of a run's state cost more than the simulation itself: without them the loop of the
    engine `shared_memory` does 27 instead of 0.5 million events a second.
    """
    keep = may_be_kept(function.__module__)
    options: dict[str, Any] = {"pipeline_class": KernelCompiler}
    return _of_kinds(_compiled(function, _nrt=False, forceinline=True, error_model="numpy", cache=keep, **options))


def _of_kinds(machine: Any) -> Any:
    """Let compiled code call a function by the kinds of its arguments alone, whatever constants they are.

    Numba compiles one once more for every constant that it is called with. Copied into its callers it is the same code
    without that.
    """
    if not INTERPRETED:
        template = machine.get_call_template
        machine.get_call_template = lambda arguments, named: template(tuple(map(types.unliteral, arguments)), named)
    return machine


def inlined(function: _Function) -> _Function:
    """Compile a function as a part of its callers alone: copied into them before types are inferred.

    A kernel has machine code of its own besides the copies in its callers, with all that it calls. Of long functions
    that are called in one or two places, one inside the other, that was half of what an engine's compiling took.
    """
    options: dict[str, Any] = {"pipeline_class": KeepingCompiler, "inline": "always"}
    return _compiled(function, _nrt=False, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def routine(function: _Function) -> _Function:
    """Compile a function that allocates nothing and is called, not inlined: for large ones over lent tuples.

    What is inlined is optimised once more at every level above it.
    """
    options: dict[str, Any] = {"pipeline_class": KernelCompiler}
    return _compiled(function, _nrt=False, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def noinline(function: _Function) -> _Function:
    """Compile a function that allocates nothing and is never copied into its callers: for those of deep calls.

    One with a lent tuple is called from compiled code alone.
    """
    return _never_copied(function, NoInlineCompiler)


def entry_point(function: _Function) -> _Function:
    """Compile a function over a lent tuple that is never copied, and that Python calls as well (`bound`)."""
    return _never_copied(function, EntryPointCompiler)


def _never_copied(function: _Function, pipeline: type) -> _Function:
    keep = may_be_kept(function.__module__)
    options: dict[str, Any] = {"_nrt": False, "forceinline": False, "pipeline_class": pipeline}
    return _compiled(function, error_model="numpy", cache=keep, **options)


def allocating(function: _Function) -> _Function:
    """Compile a function that creates arrays."""
    options: dict[str, Any] = {"pipeline_class": KeepingCompiler}
    return _compiled(function, error_model="numpy", cache=may_be_kept(function.__module__), **options)


def creates_arrays(answer: _Function) -> _Function:
    """Mark a built-in answer that creates arrays; the others are compiled without counting references."""
    answer.creates_arrays = True  # type: ignore[attr-defined]
    return answer


def compiled_answer(function: _Function, signature: Any, built_in: bool, checked: bool, digest: str) -> Any:
    """Compile an answer for one signature now.

    A built-in one is kept on disk by its digest and counts no references (12 instead of 19 ns for nearest boundary over
    two words); a user's raises on a division by zero and has its loops metered. `checked` tests every array index.
    """
    counts = not built_in or hasattr(function, "creates_arrays")
    options: dict[str, Any] = {
        "part": os.path.join("answers", digest),
        "boundscheck": checked,
        "error_model": "python",
        "cache": built_in and not checked,
    }
    options["_nrt"] = counts
    options["pipeline_class"] = KeepingCompiler if built_in else MeteredCompiler
    return _compiled(function, signature, **options)


def _compiled(function: _Function, *signature: Any, part: str = "", **options: Any) -> Any:
    # Without the entry that C would call it by, which nobody uses: a twentieth of the time that compiling takes.
    options |= {"nogil": True, "no_cfunc_wrapper": True}
    theirs = _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile
    if options["cache"]:
        folder = os.path.join(cache_folder(function.__module__), part)
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile = folder, LOCATOR, KeptIndex
    try:
        return numba.njit(*signature, **options)(function)
    finally:
        _config.CACHE_DIR, _config.CACHE_LOCATOR_CLASSES, _caching.IndexDataCacheFile = theirs
