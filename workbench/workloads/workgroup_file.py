"""Workgroups in a CSV file of the user: a row for each, in queue order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import read_columns, row_place
from workbench.workloads.csv_file import MOST_CYCLES, CsvFile, check_times
from workbench.workloads.workload import Workgroups


class WorkgroupRow(Spec):
    """One row of a workgroup file (`docs/api`, Workload files)."""

    arrival: int = lever(
        least=0, most=MOST_CYCLES, unit="cycles", description="when it joins the queue; never decreasing"
    )
    length: int = lever(least=1, most=1 << 31, unit="segments", description="how many contiguous segments it asks for")
    duration: int = lever(least=1, most=MOST_CYCLES, unit="cycles", description="from its start to its release")


class WorkgroupFile(CsvFile):
    """The workgroups of a CSV file, one a row, in queue order = row order, with the columns of `WorkgroupRow`."""

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        workgroups = Workgroups(**read_columns(text, WorkgroupRow.levers, where))
        check_times(workgroups.arrival, workgroups.duration, where)
        return Content(sha256, workgroups, int(np.argmax(workgroups.length)))

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        content: Content = self.content()
        most, row = machine.segments, content.longest
        if content.workgroups.length[row] > most:
            requirement = f"length must be at most {most} segments, all that the machine has"
            got = f"Got {content.workgroups.length[row]}."
            raise InputError(at(where, f"{self.file}: {row_place(row)}: {requirement}. {got}"))

    def workgroups(self, machine: Any, streams: Streams) -> Workgroups:
        self.check_machine(machine)
        return Workgroups(*(column.copy() for column in self.content().workgroups))


class Content(NamedTuple):
    """What a workgroup file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    workgroups: Workgroups
    longest: int
    """The first row with the greatest length."""
