"""Workgroups from a CSV file of one's own."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import read_columns, row_place
from workbench.workloads.importers.source import Source
from workbench.workloads.workload import Workgroups, Workload

MOST_CYCLES = 10**15
_LATEST = float(1 << 61)


class WorkgroupRow(Spec):
    """One row of a workgroup file (`docs/api`, Workload files)."""

    arrival: int = lever(least=0, most=MOST_CYCLES, unit="cycles", says="when it joins the queue; never decreasing")
    length: int = lever(least=1, most=1 << 31, unit="segments", says="how many contiguous segments it asks for")
    duration: int = lever(least=1, most=MOST_CYCLES, unit="cycles", says="from its start to its release")


class WorkgroupFile(Workload):
    """The workgroups of a CSV file, one a row, in queue order = row order, with the columns of `WorkgroupRow`.

    Its identity is the SHA-256 digest of the file's content (of what is inside, for a compressed file), so that a run
    is found again wherever the file lies. A file that changes after it was read is refused.
    """

    random = False
    file: str = lever(says="path of the CSV file, which may be compressed (.gz, .xz, .bz2)")
    sha256: str = lever("", says="digest that the content must have; empty: any")

    def content(self) -> Content:
        """What the file holds, read once a process.

        Raises
        ------
        InputError
            The file cannot be read, a row is wrong, or its digest is not the one that is asked for.
        """
        content = _content(self.file, *_state(self.file))
        if self.sha256 and self.sha256 != content.sha256:
            raise InputError(
                f"{self.file}: its content has changed: the digest is {content.sha256}, not {self.sha256}."
            )
        return content

    def pinned(self) -> WorkgroupFile:
        """The same, with the digest of what the file holds now."""
        return self.but(sha256=self.content().sha256)

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        content = self.content()
        most, row = machine.segments, content.longest
        if content.workgroups.length[row] > most:
            asked = f"length must be at most {most} segments, all that the machine has"
            got = f"Got {content.workgroups.length[row]}."
            raise InputError(at(where, f"{self.file}: {row_place(row)}: {asked}. {got}"))

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        self.check_machine(machine)
        return Workgroups(*(column.copy() for column in self.content().workgroups))

    def identity(self) -> dict[str, Any]:
        """The digest of the content; where the file lies says nothing about what a run gives."""
        return {self.name: {"sha256": self.content().sha256}}

    def short(self, always: Collection[str] = ()) -> str:
        """The file's name, as figures and tables show it."""
        return f"{self.name}({Path(self.file).name})"


class Content(NamedTuple):
    """What a workgroup file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    workgroups: Workgroups
    longest: int
    """The first row with the greatest length."""


def _state(file: str) -> tuple[int, int]:
    """What changes when a file is written again; zeros where there is no file to ask, which reading it will say."""
    try:
        found = Path(file).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=4)
def _content(file: str, changed: int, size: int) -> Content:
    """The content of a file in one state."""
    text = Source(file).whole()
    workgroups = Workgroups(**read_columns(text, WorkgroupRow.levers, file))
    _check_order(workgroups.arrival, file)
    end = float(workgroups.arrival[-1]) + float(workgroups.duration.sum(dtype=np.float64))
    if end > _LATEST:
        raise InputError(
            f"{file}: arrivals and durations must end before cycle 2^61 even one by one. They sum to {end:.2g}."
        )
    return Content(hashlib.sha256(text).hexdigest(), workgroups, int(np.argmax(workgroups.length)))


def _check_order(arrival: np.ndarray, file: str) -> None:
    earlier = np.flatnonzero(arrival[1:] < arrival[:-1])
    if earlier.size:
        row = int(earlier[0]) + 1
        order = f"arrival must not be below the row above it ({arrival[row - 1]}), as rows are in queue order"
        raise InputError(f"{file}: {row_place(row)}: {order}. Got {arrival[row]}. Sort the rows by arrival.")
