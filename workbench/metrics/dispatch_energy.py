"""How much energy does each module spend in each window of time?

Instructions of a group are spread evenly over the life of each of its dispatches, in fixed point: what is counted are
whole 2^-20ths of instructions, so that nothing is lost or drifts however long a run is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.metrics.dispatch_rows import Rows, makespan, releases, rows, waves_of
from workbench.records.dispatch import DispatchRecord

FIXED = 1 << 20
"""Parts of an instruction that are counted."""
CLASSES = 6
AT_ONCE = 1 << 18
"""Numbers of a chunk of windows: 2 MB."""

_NEXT, _ENDED, _WINDOW = range(3)


class Flow(NamedTuple):
    """Where the pass stands."""

    rate: np.ndarray
    """int64[modules, 6], 2^-20 instructions of each class that a module executes in a cycle."""
    count: np.ndarray
    """int64[modules, 6], those since the window began, up to `since`."""
    since: np.ndarray
    """int64[modules], the cycle up to which each module's are counted."""
    at: np.ndarray
    """int64[3]: the next dispatch, how many were released, the next window."""


def windows(record: DispatchRecord, cycles: int) -> Iterator[np.ndarray]:
    """The energy that instructions cost each module in windows of so many cycles, from cycle 0 on.

    The last window is the one in which the last group is released; it may reach beyond that.

    Yields
    ------
    float64[windows, modules]
        Picojoules: a chunk of all windows, one after the other.
    """
    assert record.power is not None
    energies = record.power.energies_pj() / FIXED
    ends = releases(record)
    order = np.argsort(ends, kind="stable")
    flow = Flow(
        np.zeros((record.modules, CLASSES), np.int64),
        np.zeros((record.modules, CLASSES), np.int64),
        np.zeros(record.modules, np.int64),
        np.zeros(3, np.int64),
    )
    left = -(-makespan(record) // cycles)
    most = max(AT_ONCE // record.modules, 1)
    while left > 0:
        chunk = np.zeros((min(left, most), record.modules))
        _fill(rows(record), record.instructions, ends, order, flow, cycles, energies, chunk)
        yield chunk
        left -= len(chunk)


def total_pj(record: DispatchRecord) -> float:
    """The energy of all instructions of a run, picojoules."""
    assert record.power is not None
    counts = np.zeros(CLASSES, np.int64)
    _count(rows(record), record.instructions, counts)
    return float((counts * (record.power.energies_pj() / FIXED)).sum())


@kernel
def rate_of(rows: Rows, instructions: np.ndarray, dispatch: int, cls: int) -> int:
    """What a dispatch executes of a class in a cycle, in 2^-20 instructions: its waves' share, to the nearest."""
    group = rows.group[dispatch]
    share = instructions[group, cls] * waves_of(rows, dispatch) // rows.waves[group]
    return (share * FIXED + rows.duration[group] // 2) // rows.duration[group]


@kernel
def _count(rows: Rows, instructions: np.ndarray, counts: np.ndarray) -> None:
    for dispatch in range(rows.group.size):
        for cls in range(CLASSES):
            counts[cls] += rate_of(rows, instructions, dispatch, cls) * rows.duration[rows.group[dispatch]]


@kernel
def _fill(
    rows: Rows,
    instructions: np.ndarray,
    ends: np.ndarray,
    order: np.ndarray,
    flow: Flow,
    cycles: int,
    energies: np.ndarray,
    chunk: np.ndarray,
) -> None:
    at = flow.at
    for window in range(chunk.shape[0]):
        beyond = (at[_WINDOW] + 1) * cycles
        while at[_ENDED] < order.size and ends[order[at[_ENDED]]] < beyond:
            begins = at[_NEXT] < order.size and rows.cycle[at[_NEXT]] < ends[order[at[_ENDED]]]
            if begins:
                _change(rows, instructions, flow, at[_NEXT], rows.cycle[at[_NEXT]], 1)
                at[_NEXT] += 1
            else:
                _change(rows, instructions, flow, order[at[_ENDED]], ends[order[at[_ENDED]]], -1)
                at[_ENDED] += 1
        while at[_NEXT] < order.size and rows.cycle[at[_NEXT]] < beyond:
            _change(rows, instructions, flow, at[_NEXT], rows.cycle[at[_NEXT]], 1)
            at[_NEXT] += 1
        for module in range(flow.since.size):
            chunk[window, module] = _spent(flow, module, beyond, energies)
        at[_WINDOW] += 1


@kernel
def _change(rows: Rows, instructions: np.ndarray, flow: Flow, dispatch: int, cycle: int, sign: int) -> None:
    module = rows.module[dispatch]
    _bring_to(flow, module, cycle)
    for cls in range(CLASSES):
        flow.rate[module, cls] += sign * rate_of(rows, instructions, dispatch, cls)


@kernel
def _bring_to(flow: Flow, module: int, cycle: int) -> None:
    for cls in range(CLASSES):
        flow.count[module, cls] += flow.rate[module, cls] * (cycle - flow.since[module])
    flow.since[module] = cycle


@kernel
def _spent(flow: Flow, module: int, cycle: int, energies: np.ndarray) -> float:
    """The energy of a window that ends, after which counting starts at 0."""
    _bring_to(flow, module, cycle)
    total = 0.0
    for cls in range(CLASSES):
        total += flow.count[module, cls] * energies[cls]
        flow.count[module, cls] = 0
    return total
