"""How many workgroups of a kernel a unit of a machine holds, from numbers or from the launches of a recorded trace.

occupancy(machine, threads=...)        from numbers, limit by limit     -> Occupancy
kernel_occupancy(trace, kernel)        from recorded launches           -> [LaunchOccupancy]
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.experiments.setups import read_machine
from workbench.machine import Machine
from workbench.machine.occupancy import Occupancy, occupancy_of
from workbench.machine.presets import NEW_PRESET, preset_for_device
from workbench.workloads.catalogue import trace_file
from workbench.workloads.importers import Trace, read_trace
from workbench.workloads.kernels import MISSING, KernelTable


def occupancy(
    machine: str | Machine,
    *,
    threads: int,
    vgprs: int | None = None,
    sgprs: int | None = None,
    shared_bytes: int | None = None,
) -> Occupancy:
    """Return the number of groups of a kernel that a unit holds at once, by each limit, and what would give one group
    more.

    Parameters
    ----------
    machine : str or Machine
        A preset, a preset's file, or a machine.
    threads : int
        Threads of a group.
    vgprs, sgprs, shared_bytes : int, optional
        Vector registers of a thread, scalar registers of a wave, bytes of shared memory of a group. What is left out
        limits nothing.

    Raises
    ------
    InputError
        The machine is unknown, or a number is below its least value or above 2^40.

    Examples
    --------
    >>> occupancy("mi300x", threads=256, vgprs=128, shared_bytes=16384).limits
    {'workgroups': 32, 'waves': 8, 'barriers': 16, 'vgpr': 4, 'shared': 4}
    """
    return occupancy_of(_machine(machine), threads, vgprs, sgprs, shared_bytes)


class LaunchOccupancy(NamedTuple):
    """The launches of a kernel that ask for the same."""

    kernel: str
    launches: int
    """How many there are."""
    microseconds: float
    """How long they took, all together."""
    demand: dict[str, int]
    """What was recorded: threads, vgprs, sgprs, shared_bytes."""
    occupancy: Occupancy


class KernelOccupancy(NamedTuple):
    """The occupancy of a trace's kernels."""

    machine: str
    """The preset, or the machine's short form."""
    launches: list[LaunchOccupancy]
    """One each kernel and demand, the longest time first."""
    untold: int
    """Launches without the threads of a group, which are in no row."""


def kernel_occupancy(trace: str | Path, kernel: str = "", machine: str | Machine = "") -> KernelOccupancy:
    """Return the occupancy of each kernel of a trace, of every importer's format: Nsight, rocprof, Kineto and others.

    What the trace does not hold limits nothing. Accumulation registers count as vector registers.

    Parameters
    ----------
    trace : str or path
        A file, or the name of a public trace.
    kernel : str, optional
        A kernel's name, or a part of it; left out, every kernel.
    machine : str or Machine, optional
        Left out, the preset of the card that the trace names.

    Raises
    ------
    InputError
        The trace cannot be read or names no known card, no kernel has this name, or no launch tells its threads.
    """
    recorded = read_trace(trace_file(str(trace)))
    chosen = machine or _card_of(recorded)
    table = recorded.kernels
    rows = _rows_named(recorded, kernel)
    demands = {name: column for name, column in _columns(table).items() if column is not None}
    whole = rows[demands["threads"][rows] > 0] if "threads" in demands else rows[:0]
    if not len(whole):
        raise InputError(f"{recorded.path}: no launch tells the threads of a group; give them with --threads.")
    keys = np.stack([table.name, *demands.values()], axis=1)[whole].astype(np.int64)
    unit = _machine(chosen)
    launches = []
    unique, place = np.unique(keys, axis=0, return_inverse=True)
    for number, key in enumerate(unique.tolist()):
        alike = whole[place.reshape(-1) == number]
        demand = {name: count for name, count in zip(demands, key[1:], strict=True) if count != MISSING}
        microseconds = float(table.duration_ns[alike].astype(np.float64).sum()) / 1000
        name = table.unique_names[key[0]]
        try:
            held = occupancy_of(unit, **demand)
        except InputError as wrong:
            raise InputError(f"{recorded.path}: kernel {name}: {wrong}") from None
        launches.append(LaunchOccupancy(name, len(alike), microseconds, demand, held))
    launches.sort(key=lambda one: (-one.microseconds, one.kernel))
    return KernelOccupancy(chosen if isinstance(chosen, str) else chosen.short(), launches, len(rows) - len(whole))


def _machine(given: str | Machine) -> Machine:
    machine: Any = read_machine(Machine, given, Path(), "--machine")
    assert isinstance(machine, Machine)
    return machine


def _columns(table: KernelTable) -> dict[str, np.ndarray | None]:
    return {
        "threads": table.threads,
        "vgprs": table.registers(),
        "sgprs": table.sgprs,
        "shared_bytes": table.shared_bytes,
    }


def _rows_named(trace: Trace, kernel: str) -> np.ndarray:
    """Return the launches of a kernel, by its whole name or, where there is no such, by a part of it."""
    names = trace.kernels.unique_names
    wanted = [place for place, name in enumerate(names) if name == kernel]
    wanted = wanted or [place for place, name in enumerate(names) if kernel in name]
    if not wanted:
        raise unknown_name(str(trace.path), "kernel", kernel, names)
    return np.flatnonzero(np.isin(trace.kernels.name, wanted))


def _card_of(trace: Trace) -> str:
    names = [card.name for card in trace.cards]
    chosen = next(filter(None, map(preset_for_device, names)), "")
    if not chosen:
        named = ", ".join(names) or "no card that it names"
        cure = f"say --machine PRESET, or write one: {NEW_PRESET.format('machine')}"
        raise InputError(f"{trace.path} was recorded on {named}; {cure}")
    return chosen
