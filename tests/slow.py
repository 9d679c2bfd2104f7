"""Helpers that set the size of a test: small in `make test`, full in `make test-long`.

A test that takes more than half a second of processor time has the marker `slow`; `tests/slices.py` selects slow tests.
A test that compiles the node, or a part of it, has the marker `node`: it is slow unless the run is interpreted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from workbench.compiled import INTERPRETED

LONG = os.environ.get("WORKBENCH_LONG") == "1"
"""Whether this is `make test-long`, in which tests have their full size."""

compiled_only = pytest.mark.skipif(INTERPRETED, reason="tests compiled code: the compiled run has it")
"""Marks a test that an interpreted run leaves out. Each such test runs in the compiled part of the same command."""

_Test = TypeVar("_Test", bound=Callable[..., Any])


def examples(small: int, full: int) -> Callable[[_Test], _Test]:
    """Return a decorator that sets the number of Hypothesis examples; interpreted runs draw a quarter."""
    return settings(max_examples=(full if LONG else small) // (4 if INTERPRETED else 1), deadline=None)


def seeds(fast: int, slow: int) -> list[Any]:
    """Return `fast` seeds for each run, and the next `slow` seeds with the marker `slow`.

    >>> [seed if isinstance(seed, int) else seed.values[0] for seed in seeds(2, 3)]
    [0, 1, 2, 3, 4]
    """
    return [*range(fast), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, fast + slow))]


def thinned(cases: Sequence[Any], every: int) -> list[Any]:
    """Return the cases: every n-th and the last are fast, the others have the marker `slow`."""
    last = len(cases) - 1
    return [case if k % every == 0 or k == last else _slow(case) for k, case in enumerate(cases)]


def _slow(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        return case._replace(marks=(*case.marks, pytest.mark.slow))
    return pytest.param(case, marks=pytest.mark.slow)
