"""The timeline of a dispatcher's run in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.

A module is a process, a unit is a thread, and a dispatch is a slice on each unit that it sends waves to. Slices of a
thread must not overlap, so a unit on which several groups run at a time has a thread for each of them: the lowest that
is free. Counters show how many groups wait, the failed rounds so far, and the free blocks of each module.

References
----------
.. [1] "Trace Event Format", the Chromium authors: phases X (complete), C (counter), M (metadata); `ts` and `dur` in
   microseconds. Perfetto keeps whole nanoseconds, so times are rounded to these.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results_folder import write_whole
from workbench.export.node_timeline import node_events
from workbench.metrics.dispatch_modules import lanes, within
from workbench.metrics.dispatch_rows import amounts, last_dispatch, releases
from workbench.records.dispatch import DispatchRecord
from workbench.records.node import NodeRecord

DISPATCHER = 1
"""The process of the dispatcher itself; 0 is that of an idle machine."""
FIRST_MODULE = 2

Event = dict[str, Any]


def write_timeline(record: Any, to: Path, cycles: tuple[int, int] | None = None) -> Path:
    """Write what happened in a run, or in a span of its cycles; the same record gives the same bytes.

    Raises
    ------
    InputError
        The record is none of a dispatcher or a node, or the cycles are no span.
    StoreError
        The file cannot be written.
    """
    events_of = next((events for kind, events in _EVENTS.items() if isinstance(record, kind)), None)
    if events_of is None:
        raise InputError("a timeline shows modules and what runs there: it needs a run of the engine dispatch or node.")
    if cycles is not None and not 0 <= cycles[0] < cycles[1]:
        raise InputError(f"a timeline shows cycles=(from, to) with 0 <= from < to. Got {cycles!r}.")
    lines = ",\n".join(json.dumps(event, separators=(",", ":")) for event in events_of(record, cycles))
    write_whole(to, f'{{"displayTimeUnit":"ns","traceEvents":[\n{lines}\n]}}\n')
    return to


def trace_events(record: DispatchRecord, cycles: tuple[int, int] | None = None) -> Iterator[Event]:
    """Yield the events: names first, then slices, then counters, each in the order of time."""
    kept = within(record, cycles)
    placed = lanes(record, kept, one_each=True)
    beside = int(placed.lane.max(initial=0)) + 1
    threads = zip(record.module[placed.dispatch].tolist(), placed.unit.tolist(), placed.lane.tolist(), strict=True)
    yield from _names(record, beside, sorted({*threads}))
    names = _group_names(record)
    ends = releases(record)
    for dispatch, unit, lane in zip(*(column.tolist() for column in placed), strict=True):
        module = int(record.module[dispatch])
        begin, end = _nanoseconds(record, int(record.cycle[dispatch])), _nanoseconds(record, int(ends[dispatch]))
        yield {
            "name": names[dispatch],
            "cat": "dispatch",
            "ph": "X",
            "ts": begin / 1000,
            "dur": (end - begin) / 1000,
            "pid": FIRST_MODULE + module,
            "tid": _thread(record, module, unit, lane, beside),
            "args": _said(record, dispatch, unit),
        }
    yield from _counters(record, kept, cycles)


def _nanoseconds(record: DispatchRecord, cycle: int) -> int:
    return round(cycle * 1000 / record.clock_mhz)


def _thread(record: DispatchRecord, module: int, unit: int, lane: int, beside: int) -> int:
    """Return a number that no other thread and no process has: one with its process's number would count as its main
    one."""
    return FIRST_MODULE + record.modules + (module * record.units + unit) * beside + lane


def _names(record: DispatchRecord, beside: int, used: list[tuple[int, int, int]]) -> Iterator[Event]:
    """Yield what processes and threads are called, in the order in which they are shown."""
    modules = {FIRST_MODULE + module: f"module {module}" for module in range(record.modules)}
    for process, name in {DISPATCHER: "dispatcher", **modules}.items():
        yield _meta("process_name", process, 0, name=name)
        yield _meta("process_sort_index", process, 0, sort_index=process)
    for module, unit, lane in used:
        process, thread = FIRST_MODULE + module, _thread(record, module, unit, lane, beside)
        yield _meta("thread_name", process, thread, name=f"unit {unit}" + (f", beside {lane}" if lane else ""))
        yield _meta("thread_sort_index", process, thread, sort_index=thread)


def _meta(kind: str, process: int, thread: int, /, **args: Any) -> Event:
    return {"name": kind, "ph": "M", "pid": process, "tid": thread, "args": args}


def _group_names(record: DispatchRecord) -> list[str]:
    """Return the group of each dispatch; of one that was split also which part of how many."""
    parts = np.bincount(record.group, minlength=len(record.arrival))
    so_far = np.zeros(len(parts), np.int64)
    names = []
    for group in record.group.tolist():
        so_far[group] += 1
        names.append(f"group {group}" + (f" ({so_far[group]} of {parts[group]})" if parts[group] > 1 else ""))
    return names


def _said(record: DispatchRecord, dispatch: int, unit: int) -> dict[str, int]:
    group = int(record.group[dispatch])
    return {
        "group": group,
        "channel": int(record.channel[group]),
        "priority": int(record.level[dispatch]),
        "waves": int(record.sent[dispatch, unit]),
        "waited_cycles": int(record.cycle[dispatch] - record.arrival[group]),
        "cycle": int(record.cycle[dispatch]),
        "duration_cycles": int(record.duration[group]),
    }


def _counters(record: DispatchRecord, kept: np.ndarray, cycles: tuple[int, int] | None) -> Iterator[Event]:
    one = np.ones((len(record.arrival), 1), np.int64)
    first, times = record.failures.T
    tries = first + (times - 1) * record.round_cycles
    waiting = np.concatenate([record.arrival, last_dispatch(record)]), np.concatenate([one, -one])
    yield from _counter(record, cycles, DISPATCHER, "waiting groups", ("groups",), 0, *waiting)
    yield from _counter(record, cycles, DISPATCHER, "failed rounds", ("rounds",), 0, tries, times[:, None])
    taken, room = amounts(record), record.blocks * np.where(record.of_unit, record.units, 1)
    for module in range(record.modules):
        here = kept[record.module[kept] == module]
        at = np.concatenate([record.cycle[here], releases(record)[here]])
        change = np.concatenate([-taken[here], taken[here]])
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
        ts = _nanoseconds(record, cycle) / 1000
        yield {"name": name, "ph": "C", "pid": process, "tid": 0, "ts": ts, "args": dict(zip(series, row, strict=True))}


_EVENTS: dict[type, Callable[..., Iterator[Event]]] = {DispatchRecord: trace_events, NodeRecord: node_events}
"""What writes the events of each kind of record."""
