"""How much a test looks at: the same little in each `make test`, all of it in `make test-long` or in its shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from workbench.compiled import INTERPRETED

LONG = os.environ.get("WORKBENCH_LONG") == "1"
"""Whether this is `make test-long`."""

long = pytest.mark.long
"""Marks what is long by nature: a test, or the parameters of one whose others are enough for `make test`."""

long_where_compiled: Any = (lambda test: test) if INTERPRETED else long
"""Marks a test that compiles what no other does: `make test` runs it interpreted alone."""

LONG_WHERE_COMPILED = [] if INTERPRETED else [long]
"""The same for all tests of a file, as its `pytestmark`. `make interpreted` must run the file (`BOTH_WAYS`)."""

compiled_only = pytest.mark.skipif(INTERPRETED, reason="is about compiled code: it runs where that is compiled")
"""Marks what the interpreted pass leaves out: every such test runs in the compiled pass of the same command."""

ROTATION = int(os.environ.get("WORKBENCH_ROTATION", "0"))
"""Which block of seeds the long tests look at (`tests/rotation.py`): each landing looks at another one."""

FAR = 1 if LONG else 4
"""What a long walk is divided by: `make test` goes a quarter of the way."""

_Test = TypeVar("_Test", bound=Callable[..., Any])


def deeper(examples: int, in_long: int) -> Callable[[_Test], _Test]:
    """Let a test of Hypothesis meet so many examples, `in_long` in `make test-long`, and a quarter interpreted."""
    meets = (in_long if LONG else examples) // (4 if INTERPRETED else 1)

    def chosen(test: _Test) -> _Test:
        return pytest.mark.deeper(settings(max_examples=meets, deadline=None)(test))

    return chosen


def seeds(gate: int, rotating: int, known: Sequence[int] = ()) -> list[Any]:
    """The seeds of a test: a fixed block for `make test`, and one for the long tests that each rotation moves on.

    Parameters
    ----------
    gate, rotating : int
        How many seeds each block has.
    known : sequence of int
        Seeds that a rotation met and that fail since before: fixed examples, which block nothing until they are mended.
    """
    first = gate + ROTATION * rotating
    fails = pytest.mark.xfail(reason="fails since before: `known` in tests/proven.json", strict=True)
    return [
        *range(gate),
        *(pytest.param(seed, marks=fails) for seed in known),
        *(pytest.param(seed, marks=long) for seed in range(first, first + rotating)),
    ]


def thinned(cases: Sequence[Any], every: int) -> list[Any]:
    """The parameters of a test, all but every n-th of them left to `make test-long`; the first and the last stay."""
    last = len(cases) - 1
    return [case if k % every == 0 or k == last else _left_to_long(case) for k, case in enumerate(cases)]


def _left_to_long(case: Any) -> Any:
    if isinstance(case, type(pytest.param())):
        return case._replace(marks=(*case.marks, long))
    return pytest.param(case, marks=long)
