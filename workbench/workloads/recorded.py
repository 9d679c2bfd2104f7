"""The base of every workload that a recorded trace gives: which file, which reader, which card."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.files import digest_of_file
from workbench.identity import current
from workbench.levers import lever
from workbench.workloads.catalogue import trace_file
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
        """Return the place of the trace, and the digests of its files; `anew` as of `FileMemo.get`.

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

    def trace_file(self) -> TraceFile:
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

    def kernels_by_levers(self, trace: Trace) -> Trace:
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

    def facts_of_levers(self, trace: Trace) -> dict[str, int]:
        """Return the number of kernels that took the value of a lever: their dynamic shared memory alone, a grid's
        unit."""
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
