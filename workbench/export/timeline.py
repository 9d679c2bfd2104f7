"""Timelines of runs in the Trace Event Format, which ui.perfetto.dev and chrome://tracing open.

Of a dispatcher: a module is a process, a unit a thread, a dispatch a slice on each unit of its waves; counters
show how many groups wait, the failed rounds so far, and the free blocks of each module.

Of a node: a GPU is a process; its kernels, modules, walkers and heap locks are threads; links, the pool and
applications are processes of their own. Counters show the groups that wait and the touches under way on each GPU, and
the requests that wait for the pool. Modules that a shoot-down stalls have a mark. A slice is some 200 bytes of text, a
group with a touch and a walk some 520.

Slices of a thread must not overlap, so what runs beside something else is on a further thread of the same name, the
lowest that is free: `module 3, beside 1`; so a walker is a thread.

References
----------
.. [1] "Trace Event Format", the Chromium authors: phases X (complete), C (counter), M (metadata); `ts` and `dur` in
   microseconds. Perfetto keeps whole nanoseconds, so times are rounded to these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import InputError
from workbench.experiments.results_folder import write_whole
from workbench.export.slices import (
    APPLICATIONS,
    LINKS,
    POOL,
    Event,
    Laned,
    Numbers,
    Slice,
    Track,
    card_name,
    in_lanes,
    names_of,
    nanoseconds,
    slice_event,
    slices_of,
)
from workbench.metrics.dispatch_modules import lanes, within
from workbench.metrics.dispatch_rows import amounts, last_dispatch, releases
from workbench.records.dispatch import DispatchRecord
from workbench.records.node import KIND, Message, NodeRecord, messages_of

DISPATCHER = 1
"""The process of the dispatcher itself; 0 is that of an idle machine."""
FIRST_MODULE = 2


def write_timeline(record: Any, to: Path, cycles: tuple[int, int] | None = None) -> Path:
    """Write what happened in a run, or in a span of its cycles; the same record gives the same bytes.

    Raises
    ------
    InputError
        The record is none of a dispatcher or a node, or the cycles are no span.
    StoreError
        The file cannot be written.
    """
    writers = ((DispatchRecord, trace_events), (NodeRecord, node_events))
    events_of = next((events for kind, events in writers if isinstance(record, kind)), None)
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
        begin, end = (nanoseconds(int(of[dispatch]), record.clock_mhz) for of in (record.cycle, ends))
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


def _thread(record: DispatchRecord, module: int, unit: int, lane: int, beside: int) -> int:
    """Return a number that no other thread and no process has: one with its process's number would count as its main
    one."""
    return FIRST_MODULE + record.modules + (module * record.units + unit) * beside + lane


def _names(record: DispatchRecord, beside: int, used: list[tuple[int, int, int]]) -> Iterator[Event]:
    """Yield what processes and threads are called, in the order in which they are shown."""
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
        ts = nanoseconds(cycle, record.clock_mhz) / 1000
        yield {"name": name, "ph": "C", "pid": process, "tid": 0, "ts": ts, "args": dict(zip(series, row, strict=True))}


def node_events(record: NodeRecord, cycles: Cycles = None) -> Iterator[Event]:
    """Yield the events: names first, then slices, then marks, then counters, each in the order of time.

    Parameters
    ----------
    cycles : (int, int), optional
        From when to when; what lasts beyond is shown whole.
    """
    messages = messages_of(record)
    laned = in_lanes(one for one in slices_of(record) if _within(one, cycles))
    marks = [message for message in messages if message.kind == KIND.shootdown and _is_within(message.cycle, cycles)]
    stalled = [Laned(Slice(_module(message), 0, 0, "", {}), 0) for message in marks]
    numbers = Numbers(_processes(record, messages), [*laned, *stalled])
    yield from numbers.names()
    for one in laned:
        yield slice_event(one, numbers, one.slice.track.name.split()[0], record.clock_mhz)
    for message in marks:
        yield _mark(message, numbers, record.clock_mhz)
    yield from _counters_of_node(record, messages, numbers, cycles)


COUNTERS = {
    "waiting groups": (KIND.enter, KIND.dispatch, KIND.cancel),
    "touches under way": (KIND.request, KIND.answer),
    "waiting requests": (KIND.pool_request, KIND.pool_answer),
}
"""What each counts: messages of the first kind more, of the others fewer."""
Cycles = tuple[int, int] | None


def _processes(record: NodeRecord, messages: list[Message]) -> list[str]:
    """Return the processes in the order in which they are shown."""
    cards = len(record.registers_scattered) // record.modules
    return [APPLICATIONS, *(card_name(card) for card in range(cards)), LINKS, POOL]


def _within(one: Slice, cycles: Cycles) -> bool:
    return cycles is None or (one.begin < cycles[1] and one.end >= cycles[0])


def _is_within(cycle: int, cycles: Cycles) -> bool:
    return cycles is None or cycles[0] <= cycle < cycles[1]


def _module(message: Message) -> Track:
    return Track(card_name(message.card), f"module {message.values[0]}")


def _mark(message: Message, numbers: Numbers, clock_mhz: float) -> Event:
    """Return the mark of a module that a shoot-down stalls."""
    track = _module(message)
    return {
        "name": "shoot-down",
        "cat": "module",
        "ph": "i",
        "s": "t",
        "ts": nanoseconds(message.cycle, clock_mhz) / 1000,
        "pid": numbers.process[track.process],
        "tid": numbers.thread[track, 0],
        "args": message.who.words(),
    }


def _counters_of_node(record: NodeRecord, messages: list[Message], numbers: Numbers, cycles: Cycles) -> Iterator[Event]:
    """Yield every counter's value after the changes of each cycle."""
    for name, (more, *fewer) in COUNTERS.items():
        changes: dict[str, dict[int, int]] = {}
        for process, cycle, change in _changes(messages, more, tuple(fewer)):
            of_process = changes.setdefault(process, {})
            of_process[cycle] = of_process.get(cycle, 0) + change
        for process, by_cycle in changes.items():
            yield from _counter_of_node(name, numbers.process[process], by_cycle, record.clock_mhz, cycles)


def _changes(messages: list[Message], more: int, fewer: tuple[int, ...]) -> Iterator[tuple[str, int, int]]:
    """Yield process, cycle and change; of a group that is split its first part alone ends its wait."""
    open_ones: set[Any] = set()
    for message in messages:
        process = POOL if more == KIND.pool_request else card_name(message.card)
        key = (process, message.who[1:5] if more == KIND.enter else message.who[1:])
        if message.kind == more:
            open_ones.add(key)
            yield process, message.cycle, 1
        elif message.kind in fewer and key in open_ones:
            open_ones.discard(key)
            yield process, message.cycle, -1


def _counter_of_node(
    name: str, process: int, by_cycle: dict[int, int], clock_mhz: float, cycles: Cycles
) -> Iterator[Event]:
    value = 0
    for cycle in sorted(by_cycle):
        value += by_cycle[cycle]
        if _is_within(cycle, cycles):
            ts = nanoseconds(cycle, clock_mhz) / 1000
            yield {"name": name, "ph": "C", "pid": process, "tid": 0, "ts": ts, "args": {"count": value}}
