"""All faults one after the other."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.faults import faults
from benchmarks.faults.deeds import IN_ANY, IN_OTHERS
from benchmarks.faults.faults import CLUSTER, GIVEN, HERE, PROCESSES, THREADS
from benchmarks.faults.site import Books

Fault = Callable[[Path], Books]
EXECUTORS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "in process": (HERE, [*IN_ANY]),
    "threads": (THREADS, [*IN_ANY]),
    "processes": (PROCESSES, [*IN_ANY, *IN_OTHERS]),
    "handed in": (GIVEN, [*IN_ANY, "stops_itself", "holds_the_lock"]),
    "Dask": (CLUSTER, [*IN_ANY, *IN_OTHERS]),
}
"""Each executor with what it guards against: what ends or stops this very process nothing in it can outlive, and one
that was handed in cannot start anew."""


def campaign(folder: Path, kills: int) -> Iterator[Books]:
    """The books of every fault; drivers and workers are killed so many times."""
    for number, fault in enumerate(all_faults(kills)):
        yield fault(folder / str(number))


def all_faults(kills: int) -> list[Fault]:
    """Every fault as a function of the folder that it happens in."""
    return [*_of_machines(kills), *_of_users()]


def _of_users() -> Iterator[Fault]:
    for name, (run, deeds) in EXECUTORS.items():
        for deed in deeds:
            yield functools.partial(faults.misbehaves, deed=deed, run=run, name=name)


def _of_machines(kills: int) -> Iterator[Fault]:
    bind = functools.partial
    yield bind(faults.drivers_killed, times=kills)
    yield bind(faults.workers_killed, times=kills, run=PROCESSES, name="processes")
    yield bind(faults.workers_killed, times=kills, run=CLUSTER, name="Dask")
    for name, run in {"processes": PROCESSES, "Dask": CLUSTER}.items():
        yield bind(faults.a_run_that_kills, run=run, name=name)
    for name, run in {"processes": PROCESSES, "threads": THREADS, "Dask": CLUSTER}.items():
        yield bind(faults.a_run_that_hangs, run=run, name=name)
    yield from (faults.full_disk, faults.damaged_tail, faults.two_drivers)
