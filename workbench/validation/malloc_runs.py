"""Runs of the engine `malloc` on the kernels of a survey: every thread, or one lane of every warp, allocates once.

The survey frees everything between its iterations and takes the median of them, so that heaps are warm. A run here
allocates, frees and allocates again; the second allocation counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.errors import InputError
from workbench.machine import Machine, read_machine
from workbench.policies.policy import Policy
from workbench.streams import Streams
from workbench.workloads.workload import Mallocs, Workload

CARDS: Mapping[str, Mapping[str, Any]] = {
    "TITANV": {"preset": "v100", "compute_units": 80, "clock_mhz": 1455.0},
    "2080Ti": {"preset": "v100", "compute_units": 68, "clock_mhz": 1545.0},
}
"""Folders of the survey's results, and cards: multiprocessors and boost clocks of NVIDIA's data sheets."""
WARP, GRANULES, SLAB_BYTES = 32, 1 << 23, 4 << 20
_ROUND, _PAUSE = 1 << 40, 1 << 20
"""Cycles before everything is freed, and from there to the allocation that counts."""
_APART, _LEAST_SLABS = 1 << 24, 64
"""Cycles between two warps that fill a heap; the least slabs of a heap that is smaller than the survey's."""


class Levers(NamedTuple):
    """What is fitted of one design; the other levers are the defaults."""

    launch_cycles: int = 0
    lock: Mapping[str, int] = {}
    heap: Mapping[str, Any] = {}


class GivenCalls(Workload):
    """Calls that are given as values."""

    random = False

    def __init__(self, arrival: np.ndarray, thread: np.ndarray, size: int, free_at: np.ndarray) -> None:
        object.__setattr__(self, "calls", Mallocs(arrival, thread, np.full(len(arrival), size), free_at))

    def mallocs(self, machine: Machine, streams: Streams) -> Mallocs:
        calls: Mallocs = self.__dict__["calls"]
        return calls


def card_of(folder: str) -> Machine:
    """Return the machine of a card, by the name of the survey's folder.

    Raises
    ------
    InputError
        The folder is of no card that is known here.
    """
    if folder not in CARDS:
        raise InputError(f"{folder}: must be a folder of a card ({', '.join(CARDS)}), as results/TITANV is.")
    return read_machine(CARDS[folder])


def allocation_ms(
    design: Mapping[str, Policy], levers: Levers, machine: Machine, size: int, threads: int, one_a_warp: bool = False
) -> float:
    """Return the duration of a kernel in which so many threads allocate so many bytes each, in milliseconds.

    Parameters
    ----------
    design : mapping
        The policies by slot.
    levers : Levers
        What was fitted.
    machine : Machine
        The card.
    size, threads : int
        Bytes of each allocation; allocations.
    one_a_warp : bool, optional
        Whether each thread is the only one of its warp that allocates.
    """
    once = np.arange(threads) * (WARP if one_a_warp else 1)
    round_of_blocks = MallocOptions().block_threads * machine.compute_units
    thread = np.concatenate([once, once + -(-int(once[-1] + 1) // round_of_blocks) * round_of_blocks])
    second = _ROUND + _PAUSE  # by threads of their own, of the same compute units
    arrival, free_at = np.repeat([0, second], threads), np.repeat([_ROUND, -1], threads)
    record = Malloc().simulate(
        _setup(design, levers, machine, size, GRANULES, GivenCalls(arrival, thread, size, free_at)), 0
    )
    return float(record.ready.max() - second) / machine.clock_mhz / 1000


def share_given(design: Mapping[str, Policy], machine: Machine, size: int, granules: int) -> float:
    """Return the share of a heap's bytes that is given out before the first refusal, to one percent of it.

    The threads come one after another, since the heap of the survey is much larger than what they ask for at once.
    """
    granule = max(size, 16)
    fine, refused = 0, granules * granule // size + 1
    while refused - fine > max(fine // 100, 1):
        threads = (fine + refused) // 2
        thread = np.arange(threads)
        calls = GivenCalls(thread // WARP * _APART, thread, size, np.full(threads, -1))
        record = Malloc().simulate(_setup(design, Levers(), machine, size, granules, calls), 0)
        fine, refused = (threads, refused) if (record.block >= 0).all() else (fine, threads)
    return float(fine) * size / (granules * granule)


def _setup(
    design: Mapping[str, Policy], levers: Levers, machine: Machine, size: int, granules: int, calls: Workload
) -> Setup:
    granule = max(size, 16)
    heap = (
        levers.heap
        if design["heap"].name != "slabs"
        else {"slabs": max(granules * granule // SLAB_BYTES, _LEAST_SLABS), **levers.heap}
    )
    policies = {**design, "lock": design["lock"].but(**levers.lock), "heap": design["heap"].but(**heap)}
    options = MallocOptions.read(
        {"heap_bytes": granules * granule, "granule_bytes": granule, "launch_cycles": levers.launch_cycles}
    )
    return Setup("malloc", machine, calls, policies, options)
