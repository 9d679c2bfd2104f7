"""Workloads that come from a recorded trace: which trace, which of its cards, and when its kernels began and ended."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from workbench.errors import shown
from workbench.identity import digest_of
from workbench.levers import lever
from workbench.units import cycles_each
from workbench.workloads.catalogue import digest, trace_file
from workbench.workloads.grids import rounds
from workbench.workloads.importers import Importer, Trace, importer_of, importers, read_trace
from workbench.workloads.launches import Launches
from workbench.workloads.workload import Workload


class OfTrace(Workload):
    """The base of every workload that a recorded trace gives, named by its contents."""

    random: ClassVar[bool] = False

    trace: str = lever(says="a trace file, or the name of a public trace of the catalogue")

    def identity(self) -> dict[str, Any]:
        """The levers, with the trace named by its contents (a file that is moved gives the same runs) and reader."""
        own, path = super().identity(), trace_file(self.trace)
        sha256 = digest(path)
        own[self.name]["trace"] = {"sha256": sha256, "importer": digest_of(_reader(path, sha256, _registered()))}
        return own

    def short(self, always: Collection[str] = ()) -> str:
        """The levers that differ from their defaults; a file by its name alone."""
        return Workload.short(self.but(trace=Path(self.trace).name), always)


class Recorded(OfTrace):
    """The base of every workload that a recorded trace of kernels gives."""

    device: int = lever(-1, least=-1, most=1 << 31, says="the card whose kernels are taken; -1 = the lowest number")


def _registered() -> tuple[type[Importer], ...]:
    return tuple(type(importer) for importer in importers().values())


@lru_cache(maxsize=64)
def _reader(path: Path, sha256: str, registered: tuple[type[Importer], ...]) -> type[Importer]:
    """Return the importer that reads a trace, looked for once as long as file and importers stay the same."""
    return type(importer_of(path))


@lru_cache(maxsize=4)
def trace_in(path: Path, sha256: str) -> Trace:
    """The trace, read once for all runs of a sweep; a file that changes has another digest."""
    return read_trace(path)


def start_cycles(kernels: Launches, machine: Any, rows: np.ndarray, arrival: str) -> np.ndarray:
    """Cycles since the kernel of the first row started, or 0 where `arrival` is `all_at_once`: int64[rows].

    Parameters
    ----------
    rows : int64[rows]
        The kernel of each row.
    """
    if arrival == "all_at_once":
        return np.zeros(len(rows), np.int64)
    return cycles_each(kernels.start_ns[rows] - kernels.start_ns[rows[0]], machine.clock_mhz)


def lasting_cycles(kernels: Launches, machine: Any, rule: str) -> np.ndarray:
    """Cycles that a workgroup of each kernel lasts, at least 1: int64[kernels].

    With the rule `waves` it is the kernel's duration over the rounds that the machine needs for its grid.
    """
    lasting = kernels.duration_ns.astype(float)
    if rule == "waves":
        resident = machine.resident(kernels.shared_bytes, kernels.threads, kernels.registers)
        lasting /= rounds(kernels.workgroups, machine.compute_units, resident)
    return np.maximum(cycles_each(lasting, machine.clock_mhz), 1)


def short_enough(kernels: Launches, longest_us: float) -> np.ndarray:
    """bool[kernels], whether each lasts at most so many microseconds; 0 = all do."""
    if longest_us == 0:
        return np.ones(len(kernels.names), bool)
    return kernels.duration_ns <= longest_us * 1000


def preset_for(trace: Trace, kernels: Launches, row: int, machine: Any) -> str:
    """The cure for a kernel that the machine has no room for: a preset that has, its own card's if that does."""
    card = next((card.name for card in trace.cards if card.number == kernels.device), "")
    asked = [-1 if column is None else int(column[row]) for column in (kernels.threads, kernels.registers)]
    preset = machine.preset_holding(int(kernels.shared_bytes[row]), card, *asked)
    return f"Nearest: machine: {preset}." if preset else "No preset holds as much."


def kernel_named(kernels: Launches, row: int) -> str:
    """How messages name a kernel."""
    return f"kernel {shown(kernels.names[row])}"
