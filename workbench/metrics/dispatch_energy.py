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


class Course(NamedTuple):
    """What the modules execute when: everything that windows of any length are made of."""

    rates: np.ndarray
    """int64[dispatches, 6], 2^-20 instructions of each class that each executes in a cycle."""
    module: np.ndarray
    begins: np.ndarray
    """int64[dispatches], cycles, not decreasing."""
    ends: np.ndarray
    """int64[dispatches], cycles, not decreasing."""
    order: np.ndarray
    """int64[dispatches], which dispatch ends at each of these."""


class Flow(NamedTuple):
    """Where the pass stands."""

    rate: np.ndarray
    """int64[modules, 6], 2^-20 instructions of each class that a module executes in a cycle."""
    counts: np.ndarray
    """int64[modules, 6], those of the window less what a whole window at the present rate would have."""
    at: np.ndarray
    """int64[3]: the next dispatch, how many were released, the next window."""


def course(record: DispatchRecord) -> Course:
    """Return the rates of every dispatch, and when they begin and end.

    A dispatch executes its waves' share of its group's instructions, the same number of each class in every cycle.
    """
    rates = np.zeros((len(record.group), CLASSES), np.int64)
    _set_rates(rows(record), record.instructions, rates)
    ends = releases(record)
    order = np.argsort(ends, kind="stable")
    return Course(rates, record.module, record.cycle, ends[order], order)


def windows(record: DispatchRecord, cycles: int, along: Course | None = None) -> Iterator[np.ndarray]:
    """Yield the energy that instructions cost each module in windows of so many cycles, from cycle 0 on.

    The last window is the one in which the last group is released; it may reach beyond that.

    Parameters
    ----------
    along : Course, optional
        That of the record, where it is at hand.

    Yields
    ------
    float64[windows, modules]
        Picojoules: a chunk of all windows, one after the other.
    """
    assert record.power is not None
    energies = record.power.energies_pj() / FIXED
    along = course(record) if along is None else along
    of_each = np.zeros((record.modules, CLASSES), np.int64)
    flow = Flow(of_each, of_each.copy(), np.zeros(3, np.int64))
    left = -(-makespan(record) // cycles)
    most = max(AT_ONCE // record.modules, 1)
    while left > 0:
        chunk = np.zeros((min(left, most), record.modules))
        _fill(along, flow, cycles, energies, chunk)
        yield chunk
        left -= len(chunk)


def total_pj(record: DispatchRecord, along: Course) -> float:
    """Compute the energy of all instructions of a run, picojoules."""
    assert record.power is not None
    counts = (along.rates * record.duration[record.group][:, None]).sum(axis=0)
    return float((counts * (record.power.energies_pj() / FIXED)).sum())


@kernel
def _set_rates(rows: Rows, instructions: np.ndarray, rates: np.ndarray) -> None:
    for dispatch in range(rows.group.size):
        group = rows.group[dispatch]
        part, waves, cycles = waves_of(rows, dispatch), rows.waves[group], rows.duration[group]
        for cls in range(CLASSES):
            share = instructions[group, cls]
            if part < waves:
                share = share * part // waves
            rates[dispatch, cls] = (share * FIXED + cycles // 2) // cycles


@kernel
def _fill(along: Course, flow: Flow, cycles: int, energies: np.ndarray, chunk: np.ndarray) -> None:
    at = flow.at
    for window in range(chunk.shape[0]):
        beyond = (at[_WINDOW] + 1) * cycles
        while at[_NEXT] < along.begins.size and along.begins[at[_NEXT]] < beyond:
            _change(along, flow, at[_NEXT], beyond - along.begins[at[_NEXT]] - cycles, 1)
            at[_NEXT] += 1
        while at[_ENDED] < along.ends.size and along.ends[at[_ENDED]] < beyond:
            _change(along, flow, along.order[at[_ENDED]], beyond - along.ends[at[_ENDED]] - cycles, -1)
            at[_ENDED] += 1
        for module in range(flow.rate.shape[0]):
            chunk[window, module] = _spent(flow, module, cycles, energies)
        at[_WINDOW] += 1


@kernel
def _change(along: Course, flow: Flow, dispatch: int, late: int, sign: int) -> None:
    """Change a module's rate; `late` is how many cycles of the window have passed, as a negative number."""
    module = along.module[dispatch]
    for cls in range(CLASSES):
        rate = sign * along.rates[dispatch, cls]
        flow.rate[module, cls] += rate
        flow.counts[module, cls] += rate * late


@kernel
def _spent(flow: Flow, module: int, cycles: int, energies: np.ndarray) -> float:
    """Return the energy of a window that ends, after which counting starts at 0."""
    total = 0.0
    for cls in range(CLASSES):
        total += (flow.counts[module, cls] + flow.rate[module, cls] * cycles) * energies[cls]
        flow.counts[module, cls] = 0
    return total
