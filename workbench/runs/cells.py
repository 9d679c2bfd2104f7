"""The cells of a row that the user's measures give; whatever they do instead of that is one sentence."""

from __future__ import annotations

import math
import numbers
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.errors import WorkbenchError, shown
from workbench.mechanisms.user_measure import UserMeasure
from workbench.runs.faults import MOST_OF_NAME, fault, shortened
from workbench.runs.interrupts import is_own
from workbench.runs.run import Task


class MeasureError(WorkbenchError):
    """A measure of the user's raised, or gave no number."""


def user_cells(user_measures: Mapping[str, UserMeasure], record: Any, setup: Setup, task: Task) -> dict[str, float]:
    """Compute measures of the user's of a record.

    Raises
    ------
    MeasureError
        One raised, gave no number, or changed the record; the sentence names it with the point and the seed.
    MemoryError
        There was not enough.
    """
    if not user_measures:
        return {}
    cells, before = dict[str, float](), _content(record)
    for name, one in user_measures.items():
        about = f"the measure {name} of {_point(setup, task)}, seed {task.seed},"
        cells[name] = _cell(one, record if one.of == "record" else setup, about)
        if _content(record) != before:
            raise MeasureError(f"{about} changed the record that it measures; it may only read, so let it copy first.")
    return cells


def _cell(one: UserMeasure, given: Any, about: str) -> float:
    try:
        value = one.function(given)
    except MemoryError:
        raise
    except BaseException as problem:
        if is_own(problem) or (one.built_in and isinstance(problem, WorkbenchError)):
            raise
        raise MeasureError(fault(problem, who=about)) from None
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (numbers.Real, np.bool_)):
        return value if type(value) in (int, float) and math.isfinite(value) else float(value)
    raise MeasureError(f"{about} must return a number. Got {shown(value)}.")


def _point(setup: Setup, task: Task) -> str:
    policies = ", ".join(policy.short() for policy in setup.policies.values())
    return f"point {task.point[:8]} ({shortened(policies, MOST_OF_NAME)})" if policies else f"point {task.point[:8]}"


def _content(value: Any) -> int:
    """Return a checksum of every array of a record, however deep in tuples and mappings it lies."""
    return zlib.crc32(b"".join(zlib.crc32(np.ascontiguousarray(one).data).to_bytes(4, "big") for one in _arrays(value)))


def _arrays(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, np.ndarray) and value.dtype != object and value.size:
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from _arrays(one)
    elif isinstance(value, dict):
        yield from _arrays(tuple(value.values()))
