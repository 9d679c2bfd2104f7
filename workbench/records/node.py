"""The record of a node's run, and its event log: a row a message between the parts of the node (spec 6, R2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.records.dispatch import HeatModel, PowerModel

NEVER = -1


class NodeRecord(NamedTuple):
    """A row of times a group, what each application took, means and counts, and the log of messages where it was kept.

    Means are over the cycles from 0 to the makespan.
    """

    makespan: int
    """The cycle of the last end of a step."""
    began: np.ndarray
    """int64[groups], when each was dispatched first, -1 = never."""
    ended: np.ndarray
    """int64[groups], -1 = never."""
    card: np.ndarray
    """int16[groups], the GPU that each was put forward on."""
    times: np.ndarray
    """int64[groups, 11], where each one's time went, from the end of the step before its kernel to its own end: wait
    for memory, in the channel, compute, issue, walkers, other translation, link, malloc lock, malloc service, heap
    chunk, shoot-down."""
    refused: np.ndarray
    """bool[applications], which were refused memory."""
    arrived: np.ndarray
    """int64[applications]."""
    left: np.ndarray
    """int64[applications], when each ended, -1 = never."""
    alone: np.ndarray
    """int64[applications], how long each takes that runs alone, -1 = for ever; no rows unless that was asked for."""
    served: np.ndarray
    """int64[5], touches by who gave the translation: the own TLB, a miss of the own module, a peer, the shared TLB, a
    walk."""
    counts: dict[str, int]
    clock_mhz: float
    modules: int
    """Of a GPU."""
    registers_scattered: np.ndarray
    """float64[modules], GPU by GPU, mean share of free registers that lie outside the longest free run of their unit;
    the mean over the units and files."""
    shared_scattered: np.ndarray
    """float64[modules], the same of a module's shared memory."""
    frames_scattered: np.ndarray
    """float64[GPUs], the same of a GPU's frames; no rows where pages are not made of frames."""
    live_bytes: float
    """Mean bytes that applications have, as they asked for them."""
    reserved_bytes: float
    """Mean bytes that the pool has got from the drivers."""
    window_cycles: int
    """Of a row of `spent`."""
    spent: np.ndarray | None
    """float64[windows, modules], picojoules that instructions cost each module of every GPU; None where power is not
    simulated."""
    power: PowerModel
    heat: HeatModel
    messages: np.ndarray
    """int64[messages, 10]: moment, kind, card, two words of K, five values; no rows without the event log."""
    details: np.ndarray
    """Numbers that messages point to."""


def time_of(record: NodeRecord, application: int) -> int:
    """Return the duration of an application, from its arrival to its end; -1 = it was refused memory, or did not
    end."""
    ended = int(record.left[application])
    return NEVER if ended == NEVER or record.refused[application] else ended - int(record.arrived[application])


class Kinds(NamedTuple):
    """Kinds of messages."""

    arrive: int
    end: int
    refused: int
    step: int
    map: int
    unmap: int
    put_forward: int
    group_end: int
    enter: int
    dispatch: int
    release: int
    cancel: int
    request: int
    answer: int
    shootdown: int
    held: int
    call: int
    malloc_answer: int
    pool_request: int
    pool_grant: int
    pool_refuse: int
    pool_answer: int
    pool_release: int
    pool_released: int
    pool_return: int
    pool_move: int
    pool_moved: int
    send: int
    arrive_link: int
    walk_times: int
    section: int


KIND = Kinds(*range(len(Kinds._fields)))
WORDS = {
    "arrive": ("node", "arrive"),
    "end": ("node", "end"),
    "refused": ("node", "refused"),
    "step": ("node", "step"),
    "map": ("node", "map", "tensor", "first", "count"),
    "unmap": ("node", "unmap", "first", "count"),
    "put_forward": ("node", "put_forward", "groups"),
    "group_end": ("node", "group_end"),
    "enter": ("dispatch", "enter", "channel"),
    "dispatch": ("dispatch", "dispatch", "module", "waves"),
    "release": ("dispatch", "release", "module"),
    "cancel": ("dispatch", "cancel"),
    "request": ("translation", "request", "core", "page"),
    "answer": ("translation", "answer", "core", "page", "served_by", "latency"),
    "held": ("translation", "held", "first", "count"),
    "shootdown": ("translation", "shootdown", "core"),
    "call": ("malloc", "call", "number"),
    "malloc_answer": ("malloc", "answer", "nulls"),
    "pool_request": ("pool", "request", "bytes"),
    "pool_grant": ("pool", "grant", "borrower", "identifier", "bytes", "source"),
    "pool_refuse": ("pool", "refuse", "bytes"),
    "pool_answer": ("pool", "answer", "granted"),
    "pool_release": ("pool", "release", "identifier", "bytes"),
    "pool_released": ("pool", "released", "identifier"),
    "pool_return": ("pool", "return_to_driver", "identifier", "bytes"),
    "pool_move": ("pool", "move", "source", "bytes"),
    "pool_moved": ("pool", "moved", "source", "bytes"),
    "send": ("link", "send", "source", "bytes"),
    "arrive_link": ("link", "arrive"),
    "walk_times": ("translation", "walk_times", "page", "begun", "read", "ended"),
    "section": ("malloc", "section", "request", "acquired", "chunk", "answered"),
}
"""Of each kind, its part, what it is called there, and what its values are."""


class Who(NamedTuple):
    """Of whom a message is; -1 = absent."""

    card: int
    application: int
    stream: int
    step: int
    group: int
    wave: int
    phase: int
    touch: int

    def words(self) -> dict[str, int]:
        """Return its values by name."""
        return {name: value for name, value in self._asdict().items() if value >= 0 and name != "card"}


def who_of(first: int, second: int) -> Who:
    """Return of whom a message is, by the two words that say it (spec 6, R3).

    >>> tuple(who_of(1 << 56 | 3 << 42 | 2 << 28 | 5, 8 << 35 | 1 << 14))
    (0, 2, 1, 4, 7, -1, 0, -1)
    """
    of_first = [(first, low, bits) for low, bits in ((56, 7), (42, 14), (28, 14), (0, 28))]
    of_second = [(second, low, bits) for low, bits in ((35, 28), (24, 11), (14, 10), (0, 14))]
    cut = [*of_first, *of_second]
    return Who(*((word >> low & (1 << bits) - 1) - 1 for word, low, bits in cut))


class Message(NamedTuple):
    """A row of the log."""

    cycle: int
    kind: int
    card: int
    who: Who
    values: tuple[int, ...]


RANKS = 32
"""Moments of a cycle."""


def messages_of(record: NodeRecord) -> list[Message]:
    """Return the log of a run, row by row."""
    return [
        Message(moment // RANKS, kind, card, who_of(first, second), tuple(values))
        for moment, kind, card, first, second, *values in record.messages.tolist()
    ]


def events(record: NodeRecord) -> dict[str, np.ndarray]:
    """Return every message in the order in which it came about, as columns.

    Returns
    -------
    dict of arrays
        cycle, serial, rank, part, card, kind, whose it is (application, stream, step, group, wave, phase, touch; -1 =
        absent), and up to four values.
    """
    rows = record.messages
    who = np.array([who_of(int(a), int(b)) for a, b in rows[:, 3:5]], np.int64).reshape(-1, 8)
    words = np.array([WORDS[name][:2] for name in KIND._fields]).reshape(-1, 2)
    return {
        "cycle": rows[:, 0] // RANKS,
        "serial": np.arange(len(rows)),
        "rank": rows[:, 0] % RANKS,
        "part": words[rows[:, 1], 0],
        "kind": words[rows[:, 1], 1],
        "card": rows[:, 2],
        **{name: who[:, place] for place, name in enumerate(Who._fields) if place},
        **{f"value_{place}": rows[:, 5 + place] for place in range(4)},
    }
