"""Trace events of a dispatcher: a module is a process, a unit a thread, a dispatch a slice on each unit of its waves.

Counters show how many groups wait, the failed rounds so far, and the free blocks of each module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.export._slices import Event, names_of, nanoseconds
from workbench.metrics.dispatch_modules import lanes, within
from workbench.metrics.dispatch_rows import amounts, by_start, held, last_dispatch, releases, starting
from workbench.records.dispatch import DispatchRecord

DISPATCHER = 1
"""The process of the dispatcher itself; 0 is that of an idle machine."""
FIRST_MODULE = 2


def trace_events(record: DispatchRecord, cycles: tuple[int, int] | None = None) -> Iterator[Event]:
    """Yield the events: names first, then slices, then counters, each in the order of time."""
    record = by_start(record)
    kept = within(record, cycles)
    placed = lanes(record, kept, one_each=True)
    beside = int(placed.lane.max(initial=0)) + 1
    threads = zip(record.module[placed.dispatch].tolist(), placed.unit.tolist(), placed.lane.tolist(), strict=True)
    yield from _names(record, beside, sorted({*threads}))
    names = _group_names(record)
    ends, hangs = releases(record), held(record)
    for dispatch, unit, lane in zip(*(column.tolist() for column in placed), strict=True):
        module = int(record.module[dispatch])
        begin, end = (nanoseconds(int(of[dispatch]), record.clock_mhz) for of in (record.cycle, ends))
        lasting = {} if hangs[dispatch] else {"duration_cycles": int(ends[dispatch] - record.cycle[dispatch])}
        yield {
            "name": names[dispatch],
            "cat": "dispatch",
            "ts": begin / 1000,
            **({"ph": "X", "dur": (end - begin) / 1000} if lasting else {"ph": "B"}),
            "pid": FIRST_MODULE + module,
            "tid": _thread(record, module, unit, lane, beside),
            "args": _arguments_of(record, dispatch, unit, lasting),
        }
    yield from _counters(record, kept, cycles)


def _thread(record: DispatchRecord, module: int, unit: int, lane: int, beside: int) -> int:
    """Return a number that no other thread and no process has: one with its process's number would count as its main
    one."""
    return FIRST_MODULE + record.modules + (module * record.units + unit) * beside + lane


def _names(record: DispatchRecord, beside: int, used: list[tuple[int, int, int]]) -> Iterator[Event]:
    """Yield the names of processes and threads, in the order in which they are shown."""
    modules = {f"module {module}": FIRST_MODULE + module for module in range(record.modules)}
    threads = (
        (FIRST_MODULE + module, _thread(record, module, unit, lane, beside), f"unit {unit}", lane)
        for module, unit, lane in used
    )
    return names_of({"dispatcher": DISPATCHER, **modules}, threads)


def _group_names(record: DispatchRecord) -> list[str]:
    """Return the group of each dispatch; of one that was split also which part of how many."""
    parts = np.bincount(record.group, minlength=len(record.arrival))
    so_far = np.zeros(len(parts), np.int64)
    names = []
    for group in record.group.tolist():
        so_far[group] += 1
        names.append(f"group {group}" + (f" ({so_far[group]} of {parts[group]})" if parts[group] > 1 else ""))
    return names


def _arguments_of(record: DispatchRecord, dispatch: int, unit: int, lasting: dict[str, int]) -> dict[str, int]:
    group = int(record.group[dispatch])
    return {
        "group": group,
        "channel": int(record.channel[group]),
        "priority": int(record.level[dispatch]),
        "waves": int(record.sent[dispatch, unit]),
        "waited_cycles": int(record.cycle[dispatch] - record.arrival[group]),
        "cycle": int(record.cycle[dispatch]),
        **lasting,
    }


def _counters(record: DispatchRecord, kept: np.ndarray, cycles: tuple[int, int] | None) -> Iterator[Event]:
    one, starts = np.ones((len(record.arrival), 1), np.int64), starting(record)
    first, times = record.failures.T
    tries = first + (times - 1) * record.round_cycles
    waiting = np.concatenate([record.arrival, last_dispatch(record)[starts]]), np.concatenate([one, -one[starts]])
    yield from _counter(record, cycles, DISPATCHER, "waiting groups", ("groups",), 0, *waiting)
    yield from _counter(record, cycles, DISPATCHER, "failed rounds", ("rounds",), 0, tries, times[:, None])
    hangs, taken, room = held(record), amounts(record), record.blocks * np.where(record.of_unit, record.units, 1)
    for module in range(record.modules):
        here = kept[record.module[kept] == module]
        given = here[~hangs[here]]
        at = np.concatenate([record.cycle[here], releases(record)[given]])
        change = np.concatenate([-taken[here], taken[given]])
        yield from _counter(record, cycles, FIRST_MODULE + module, "free blocks", record.resources, room, at, change)


def _counter(
    record: DispatchRecord,
    cycles: tuple[int, int] | None,
    process: int,
    name: str,
    series: tuple[str, ...],
    before: Any,
    at: np.ndarray,
    change: np.ndarray,
) -> Iterator[Event]:
    """Yield a counter's values after the changes of each cycle; what changed before the span is known at its
    beginning."""
    first, beyond = cycles or (0, int(at.max(initial=0)) + 1)
    order = np.argsort(at, kind="stable")
    at, values = np.maximum(at[order], first), before + change[order].cumsum(axis=0)
    seen = (at < beyond) & (np.diff(at, append=beyond) > 0)
    for cycle, row in zip(at[seen].tolist(), values[seen].tolist(), strict=True):
        ts = nanoseconds(cycle, record.clock_mhz) / 1000
        yield {"name": name, "ph": "C", "pid": process, "tid": 0, "ts": ts, "args": dict(zip(series, row, strict=True))}
