"""The launches of one card of a trace, by start, and what they become on a machine: cycles, rounds, a unit's share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, shown
from workbench.units import cycles_each
from workbench.workloads.importers import Trace
from workbench.workloads.kernels import MISSING

FIRST_DEVICE = -1
OF_REQUESTS = ("workgroups", "shared_bytes")
"""What must be known of every launch whose workgroups ask for shared memory."""


class Launches(NamedTuple):
    """One row a launch; what was needed of them is known in every row."""

    device: int
    names: list[str]
    start_ns: np.ndarray
    """int64[rows], not decreasing."""
    duration_ns: np.ndarray
    """int64[rows]."""
    workgroups: np.ndarray
    """int64[rows]."""
    shared_bytes: np.ndarray
    """int64[rows], of a workgroup; 0 where it was neither needed nor recorded."""
    threads: np.ndarray | None
    """int64[rows], of a workgroup; MISSING where it was not recorded, None where it never was."""
    registers: np.ndarray | None
    """int64[rows], vector registers of a thread; likewise."""
    scalar_registers: np.ndarray | None
    """int64[rows], of a wave; likewise."""
    stream: np.ndarray | None
    """int64[rows], the stream that each was launched on; likewise."""
    queue: np.ndarray | None
    """int64[rows], the hardware queue that it went through; likewise."""


def launches_of(
    trace: Trace,
    device: int = FIRST_DEVICE,
    skip: bool = False,
    needed: Sequence[str] = OF_REQUESTS,
    become: str = "workgroups",
    cures: Mapping[str, str] = {},
) -> tuple[Launches, int]:
    """Return the launches of a card, and how many were left out because something that is needed was not recorded.

    Launches that start together keep the order of the file.

    Parameters
    ----------
    device : int
        The number of the card; -1 is the lowest there is.
    skip : bool
        Leave incomplete launches out instead of refusing the trace.
    needed : names of columns of `KernelTable`
        What makes a launch complete: its grid, and what else; a grid is always needed.
    become : str
        What the kernels are to become, for the message.
    cures : mapping
        What helps where a column is missing, for the message; said if it helps with all that is missing.

    Raises
    ------
    InputError
        The trace has no such card, no kernels, no durations, or incomplete launches: one sentence that says what is
        missing and which files have it.
    """
    rows = _rows_of_card(trace, device, become)
    table = trace.kernels
    known = np.ones(len(rows), bool)
    for column in (getattr(table, field) for field in needed):
        known &= np.zeros(len(rows), bool) if column is None else column[rows] != MISSING
    lasting = table.duration_ns[rows].any()
    if not known.any() or not lasting or not (skip or known.all()):
        help_with = {cures.get(field, "") for field in needed if table.lacking(field)}
        skip_them = ["`incomplete: skip` leaves those out"] if known.any() and lasting else []
        clauses = [*trace.missing(needed), *skip_them, *(help_with if lasting and "" not in help_with else [])]
        raise InputError(f"{trace.path}: cannot become {become}: {'; '.join(clauses)}.")
    kept = table.take(rows[known])
    assert kept.workgroups is not None
    shared = np.zeros(kept.rows, np.int64) if kept.shared_bytes is None else np.maximum(kept.shared_bytes, 0)
    launches = Launches(
        device=int(kept.device[0]),
        names=[kept.name_of(row) for row in range(kept.rows)],
        start_ns=kept.start_ns,
        duration_ns=kept.duration_ns,
        workgroups=kept.workgroups,
        shared_bytes=shared,
        threads=kept.threads,
        registers=kept.registers(),
        scalar_registers=kept.sgprs,
        stream=kept.stream,
        queue=kept.queue,
    )
    return launches, int(np.count_nonzero(~known))


def _rows_of_card(trace: Trace, device: int, become: str) -> np.ndarray:
    """Return the rows of a card, by start."""
    numbers = np.unique(trace.kernels.device)
    if not len(numbers):
        raise InputError(f"{trace.path}: cannot become {become}: {'; '.join(trace.missing())}.")
    wanted = int(numbers[0]) if device == FIRST_DEVICE else device
    if wanted not in numbers:
        there = ", ".join(map(str, numbers))
        raise InputError(f"{trace.path}: has kernels of device {there} only. Got trace_{become}.device {device}.")
    rows = np.flatnonzero(trace.kernels.device == wanted)
    return rows[np.argsort(trace.kernels.start_ns[rows], kind="stable")]


def start_cycles(kernels: Launches, machine: Any, rows: np.ndarray, arrival: str) -> np.ndarray:
    """Return the cycles since the kernel of the first row started, or 0 where `arrival` is `all_at_once`: int64[rows].

    Parameters
    ----------
    rows : int64[rows]
        The kernel of each row.
    """
    if arrival == "all_at_once":
        return np.zeros(len(rows), np.int64)
    return cycles_each(kernels.start_ns[rows] - kernels.start_ns[rows[0]], machine.clock_mhz)


def lasting_cycles(kernels: Launches, machine: Any, rule: str) -> np.ndarray:
    """Return the cycles that a workgroup of each kernel lasts, at least 1: int64[kernels].

    With the rule `waves` it is the kernel's duration over the rounds that the machine needs for its grid.
    """
    lasting = kernels.duration_ns.astype(float)
    if rule == "waves":
        resident = machine.resident(kernels.shared_bytes, kernels.threads, kernels.registers)
        lasting /= rounds(kernels.workgroups, machine.compute_units, resident)
    return np.maximum(cycles_each(lasting, machine.clock_mhz), 1)


def short_enough(kernels: Launches, longest_us: float) -> np.ndarray:
    """Return whether each kernel lasts at most so many microseconds, bool[kernels]; 0 = all do."""
    if longest_us == 0:
        return np.ones(len(kernels.names), bool)
    return kernels.duration_ns <= longest_us * 1000


def preset_for(trace: Trace, kernels: Launches, row: int, machine: Any) -> str:
    """Return the cure for a kernel that the machine has no space for: a preset that has, its own card's if that
    does."""
    card = next((card.name for card in trace.cards if card.number == kernels.device), "")
    needs = [-1 if column is None else int(column[row]) for column in (kernels.threads, kernels.registers)]
    preset = machine.preset_holding(int(kernels.shared_bytes[row]), card, *needs)
    return f"Nearest: machine: {preset}." if preset else "No preset holds as much."


def kernel_named(kernels: Launches, row: int) -> str:
    """Return the name of a kernel in messages."""
    return f"kernel {shown(kernels.names[row])}"


def share_of_unit(workgroups: np.ndarray, units: int, unit: int, restart: bool) -> np.ndarray:
    """Return the number of workgroups of each grid that go to a unit when workgroup i goes to unit (first + i) mod
    units.

    Parameters
    ----------
    workgroups : int64[kernels]
        In the order of the launches.
    units, unit : int
        How many compute units there are, and which one is meant.
    restart : bool
        Whether every grid begins at unit 0; else a grid begins after the unit that got the last one's last workgroup.

    Returns
    -------
    int64[kernels]

    Examples
    --------
    >>> grids = np.array([3, 3, 1])
    >>> share_of_unit(grids, 4, 0, restart=False), share_of_unit(grids, 4, 0, restart=True)
    (array([1, 1, 0]), array([1, 1, 1]))
    """
    first = np.zeros_like(workgroups)
    if not restart:
        first[1:] = np.cumsum(workgroups)[:-1] % units
    before = (unit - first) % units
    return np.maximum(-(-(workgroups - before) // units), 0)


def rounds(workgroups: np.ndarray, units: int, resident: np.ndarray) -> np.ndarray:
    """Return the number of rounds that a machine needs for each grid when every unit holds so many of its workgroups at
    once.

    A unit that holds none (the machine is too small for one workgroup) counts as holding one; at least one round.

    >>> rounds(np.array([1, 240, 241, 9]), 60, np.array([4, 4, 4, 0]))
    array([1, 1, 2, 1])
    """
    return np.maximum(-(-workgroups // (units * np.maximum(resident, 1))), 1)
