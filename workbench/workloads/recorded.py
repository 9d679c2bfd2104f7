"""Workloads that come from a recorded trace: which trace, which of its cards, and when its kernels began and ended.

`launches_of` gives the kernels of one card in the order of their starts, with everything that a stream of workgroups
needs; `share_of_unit` and `rounds` are the arithmetic by which grids become the requests of one compute unit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from workbench.errors import InputError, shown, wrong_value
from workbench.identity import current
from workbench.levers import lever
from workbench.units import cycles_each
from workbench.workloads.catalogue import digest_of_file, trace_file
from workbench.workloads.importers import Importer, Trace, importer_of, importers, read_trace
from workbench.workloads.kernels import MISSING
from workbench.workloads.workload import Workload


class TraceFile(NamedTuple):
    """A trace as it is read: what is remembered of one is kept by all of this."""

    path: Path
    sha256: str
    importer: str
    """The digest of the code that reads it."""


class OfTrace(Workload):
    """The base of every workload that a recorded trace gives, named by its contents."""

    random: ClassVar[bool] = False

    trace: str = lever(description="a trace file, or the name of a public trace of the catalogue")

    sha256: str = lever("", description="digest that the file must have; empty: any")

    def digests(self, path: Path, anew: bool = False) -> tuple[str, ...]:
        """Return the digests of the files that it is read from, that of the trace itself first."""
        return (digest_of_file(path, anew),)

    def located(self, anew: bool = False) -> tuple[Path, tuple[str, ...]]:
        """Return where the trace lies, and the digests of its files; `anew` as of `FileMemo.get`.

        Raises
        ------
        InputError
            There is no such trace, or it is not the one that it was pinned to.
        """
        path = trace_file(self.trace)
        digests = self.digests(path, anew)
        if self.sha256 and _pin(digests) != self.sha256:
            raise InputError(
                f"{self.trace}: its content has changed: the digest is {_pin(digests)}, not {self.sha256}."
            )
        return path, digests

    def pinned(self) -> Self:
        """Return the same, with the digest of what the trace holds now; another content is refused from then on."""
        return self.but(sha256=_pin(self.located(anew=True)[1]))

    def identity(self) -> dict[str, Any]:
        """Return the levers, with the trace named by its contents (a file that is moved gives the same runs) and
        reader."""
        own, (path, digests) = super().identity(), self.located()
        del own[self.name]["sha256"]
        own[self.name]["trace"] = {"sha256": digests[0], "importer": current(reader_of(path, digests[0])).digest}
        return own

    def found(self) -> TraceFile:
        """Return the trace and what reads it now; errors as of `located`."""
        path, digests = self.located()
        return TraceFile(path, digests[0], current(reader_of(path, digests[0])).digest)

    def further_code(self) -> tuple[type, ...]:
        """Return the importer that reads the trace, where it is not part of this package."""
        path, digests = self.located()
        reader = reader_of(path, digests[0])
        return () if reader.built_in else (reader,)

    def short(self, always: Collection[str] = ()) -> str:
        """Return the levers that differ from their defaults; a file by its name alone."""
        return Workload.short(self.but(trace=Path(self.trace).name, sha256=""), always)


def reader_of(path: Path, sha256: str) -> type[Importer]:
    """Return the importer that reads a trace, looked for once as long as file and importers stay the same."""
    known = (type(importer) for importer in importers().values())
    return _reader(path, sha256, tuple((cls, "" if cls.built_in else current(cls).digest) for cls in known))


@lru_cache(maxsize=64)
def _reader(path: Path, sha256: str, known: tuple[tuple[type[Importer], str], ...]) -> type[Importer]:
    return type(importer_of(path))


def _pin(digests: tuple[str, ...]) -> str:
    """Return one digest for all files of a trace: its own where it is one file, else that of the digests, a line
    each."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


class Recorded(OfTrace):
    """The base of every workload that a recorded trace of kernels gives."""

    device: int = lever(
        -1, least=-1, most=1 << 31, description="the card whose kernels are taken; -1 = the lowest number"
    )


class RecordedKernels(Recorded):
    """The base of every workload whose requests are the workgroups of recorded kernels."""

    shared_bytes: Literal["recorded", "launch_argument"] = lever(
        "recorded",
        description="a workgroup's shared memory: as the kernel has it, or where it has none the dynamic part that the "
        "call which launched it asked for (AMD's Kineto traces); static shared memory is then missing",
    )
    grids: Literal["recorded", "workgroups", "work_items"] = lever(
        "recorded",
        description="what a grid counts where the file does not say it (AMD's Kineto traces); `recorded` takes no such "
        "grid",
    )
    duration_rule: Literal["waves", "whole"] = lever(
        "waves",
        description="a workgroup's duration: its kernel's divided by the rounds that the machine needs, or all of it",
    )
    longest_us: float = lever(
        0,
        least=0,
        most=1e12,
        unit="microseconds",
        description="longer kernels are left out, such as collectives that wait for their peers; 0 = none are",
    )

    def kernels_as_told(self, trace: Trace) -> Trace:
        """Return the trace with its kernels read as `shared_bytes` and `grids` say.

        Raises
        ------
        InputError
            `shared_bytes: launch_argument` is said of a trace whose launches tell nothing of shared memory.
        """
        table = trace.kernels
        if self.shared_bytes == "launch_argument":
            if table.launch_shared_bytes is None:
                expected = "must be `recorded`: the launches of this trace tell nothing of shared memory"
                raise wrong_value(str(trace.path), "shared_bytes", expected, self.shared_bytes, "recorded")
            shared = _first_known(table.shared_bytes, table.launch_shared_bytes)
            table = table._replace(shared_bytes=shared, launch_shared_bytes=None)
        if self.grids != "recorded" and table.either_workgroups is not None:
            reading = table.either_workgroups[:, 0 if self.grids == "workgroups" else 1]
            table = table._replace(workgroups=_first_known(table.workgroups, reading), either_workgroups=None)
        return trace._replace(kernels=table)

    def told_facts(self, trace: Trace) -> dict[str, int]:
        """Return how many kernels took what a lever told: their dynamic shared memory alone, a grid's unit."""
        table, result = trace.kernels, {}
        if self.shared_bytes == "launch_argument" and table.launch_shared_bytes is not None:
            recorded = table.shared_bytes if table.shared_bytes is not None else MISSING
            taken = (recorded == MISSING) & (table.launch_shared_bytes != MISSING)
            result["kernels_with_dynamic_shared_memory_alone"] = int(np.count_nonzero(taken))
        if self.grids != "recorded" and table.either_workgroups is not None:
            result[f"kernels_with_grids_of_{self.grids}"] = int(
                np.count_nonzero(table.either_workgroups[:, 0] != MISSING)
            )
        return result


def _first_known(column: np.ndarray | None, otherwise: np.ndarray) -> np.ndarray:
    """Return a column with what it lacks taken from another."""
    return otherwise if column is None else np.where(column == MISSING, otherwise, column)


@lru_cache(maxsize=4)
def trace_in(file: TraceFile) -> Trace:
    """Return the trace, read once for all runs of a sweep; a file that changes has another digest, as has its
    importer."""
    trace = read_trace(file.path)
    check_unchanged(file.path, file.sha256)
    return trace


def check_unchanged(path: Path, sha256: str) -> None:
    """Refuse a file that was read and is not the one of its digest any more."""
    if digest_of_file(path, anew=True) != sha256:
        raise InputError(f"{path}: its content has changed while it was read; run it again.")


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
    """Return the cure for a kernel that the machine has no room for: a preset that has, its own card's if that does."""
    card = next((card.name for card in trace.cards if card.number == kernels.device), "")
    needs = [-1 if column is None else int(column[row]) for column in (kernels.threads, kernels.registers)]
    preset = machine.preset_holding(int(kernels.shared_bytes[row]), card, *needs)
    return f"Nearest: machine: {preset}." if preset else "No preset holds as much."


def kernel_named(kernels: Launches, row: int) -> str:
    """Return how messages name a kernel."""
    return f"kernel {shown(kernels.names[row])}"


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


def share_of_unit(workgroups: np.ndarray, units: int, unit: int, restart: bool) -> np.ndarray:
    """Return how many workgroups of each grid go to a unit when workgroup i goes to unit (first + i) mod units.

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
    """Return how many rounds a machine needs for each grid when every unit holds so many of its workgroups at once.

    A unit that holds none (the machine is too small for one workgroup) counts as holding one; at least one round.

    >>> rounds(np.array([1, 240, 241, 9]), 60, np.array([4, 4, 4, 0]))
    array([1, 1, 2, 1])
    """
    return np.maximum(-(-workgroups // (units * np.maximum(resident, 1))), 1)
