"""Trace events of a node: a GPU is a process; its kernels, modules, walkers and heap locks are threads.

Links, the pool and applications are processes of their own. Counters show the groups that wait and the touches under
way on each GPU, and the requests that wait for the pool. Modules that a shoot-down stalls have a mark. A slice is some
200 bytes of text, a group with a touch and a walk some 520.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.export._node_slices import APPLICATIONS, LINKS, POOL, card_name, slices_of
from workbench.export._slices import Event, Laned, Numbers, Slice, Track, in_lanes, nanoseconds, slice_event
from workbench.records.node import KIND, Message, NodeRecord, messages_of

Cycles = tuple[int, int] | None

COUNTERS = {
    "waiting groups": (KIND.enter, KIND.dispatch, KIND.cancel),
    "touches under way": (KIND.request, KIND.answer),
    "waiting requests": (KIND.pool_request, KIND.pool_answer),
}
"""What each counts: messages of the first kind more, of the others fewer."""


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
