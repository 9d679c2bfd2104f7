"""What a run of the engine `node` leaves behind."""

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
    """Return how long an application took, from its arrival to its end; -1 = it was refused memory, or did not end."""
    ended = int(record.left[application])
    return NEVER if ended == NEVER or record.refused[application] else ended - int(record.arrived[application])
