"""A million threads ask a bitmap heap of 256 MB in 16-byte granules for 1 to 256 bytes each (issue 6).

Warp-aggregated and per thread, without frees, with half of the warps freed after a random time before later ones come,
and with every warp freed with chance one half before each next one. Drawing the calls is not part of the time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.row import fastest, row
from workbench.engines.kit.engine import Setup
from workbench.engines.malloc import Malloc, MallocOptions
from workbench.machine import Machine
from workbench.policies.policy import read_policy
from workbench.streams import Streams
from workbench.workloads.malloc_calls import RandomMallocs
from workbench.workloads.workload import Mallocs, Workload

THREADS, WARP, GAP = 1_000_000, 32, 1000
HEAP = {"heap_bytes": 1 << 28, "granule_bytes": 16}
SPAN = THREADS // WARP * GAP
LOADS = {
    "no frees": {},
    "half of the warps freed at random": {"share": 0.5, "lifetime": {"uniform": [1, SPAN]}},
    "half of the live warps freed before each": {"share": 1.0, "lifetime": {"geometric": 2 * GAP}},
}
"""What is freed; the first asks all at once, the others one warp after another."""


class Drawn(Workload):
    """Calls that were drawn before."""

    def __init__(self, calls: Mallocs) -> None:
        object.__setattr__(self, "calls", calls)

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs:
        return self.calls


def malloc_warp() -> list[dict[str, Any]]:
    """Two ways to serve, three loads."""
    rows = []
    for about, frees in LOADS.items():
        calls = _calls(frees)
        for serve in ("warp_aggregated", "per_thread"):
            rows.append(_row(about, serve, calls, bool(frees)))
    return rows


def _calls(frees: dict[str, Any]) -> Mallocs:
    more: dict[str, Any] = {"warp_gap_cycles": GAP, "frees": {"freed_by_warp": frees}} if frees else {}
    return RandomMallocs(threads=THREADS, size={"uniform": [1, 256]}, **more).mallocs(Machine(), Streams(1))


def _row(about: str, serve: str, calls: Mallocs, frees: bool) -> dict[str, Any]:
    slots = {"serve": serve, "heap": "bitmap_arena", "lock": "trylock_spin", "arenas": "one_heap"}
    policies = {slot: read_policy(slot, name) for slot, name in slots.items()}
    setup = Setup("malloc", Machine(), Drawn(calls), policies, MallocOptions(**HEAP))
    results = []
    seconds = fastest(lambda: results.append(Malloc().simulate(setup, 1)), 5)
    record = results[-1]
    requests = THREADS // WARP if serve == "warp_aggregated" else THREADS
    assert record.acquisitions == record.heap_atomics == len(record.base) == requests
    assert (record.block >= 0).all() and np.array_equal(record.returned >= 0, record.returned > record.granted)
    assert (record.returned >= 0).any() == frees
    return row("malloc_warp", f"{serve}, {about}", THREADS, "requests", seconds)
