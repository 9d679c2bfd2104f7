"""All faults one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults import faults
from benchmarks.faults.site import Books

PROCESSES: dict[str, Any] = {"workers": 2}
THREADS: dict[str, Any] = {"workers": 2, "executor": "threads"}
CLUSTER: dict[str, Any] = {"executor": "local:2"}
Fault = Callable[[Path], Books]


def campaign(folder: Path, kills: int) -> Iterator[Books]:
    """The books of every fault; drivers and workers are killed so many times."""
    for number, fault in enumerate(all_faults(kills)):
        yield fault(folder / str(number))


def all_faults(kills: int) -> list[Fault]:
    """Every fault as a function of the folder that it happens in."""
    bind = functools.partial
    return [
        bind(faults.drivers_killed, times=(kills + 1) // 2, store="sqlite"),
        bind(faults.drivers_killed, times=kills // 2, store="rows"),
        bind(faults.workers_killed, times=kills),
        bind(faults.a_run_that_kills, run=PROCESSES, name="processes"),
        bind(faults.a_run_that_kills, run=CLUSTER, name="Dask"),
        bind(faults.a_run_that_hangs, run=PROCESSES, name="processes"),
        bind(faults.a_run_that_hangs, run=THREADS, name="threads"),
        bind(faults.a_run_that_hangs, run=CLUSTER, name="Dask"),
        bind(faults.full_disk, store="sqlite"),
        bind(faults.full_disk, store="rows"),
        bind(faults.damaged_tail, store="sqlite"),
        bind(faults.damaged_tail, store="rows"),
        faults.two_drivers,
    ]
