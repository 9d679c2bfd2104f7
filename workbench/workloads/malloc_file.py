"""Calls of `malloc` from a CSV file of one's own."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.levers import Lever, Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import column_names, read_columns, row_place
from workbench.workloads.csv_file import MOST_CYCLES, CsvFile
from workbench.workloads.mallocs import Mallocs

MOST_BYTES = 1 << 40
MOST_THREADS = 1 << 40
_FREE = Lever(
    "free_at", "integer", least=-1, most=MOST_CYCLES, unit="cycles", description="when it gives it back; -1: never"
)


class MallocRow(Spec):
    """What every row of a malloc file says (`docs/api`, Workload files)."""

    arrival: int = lever(
        least=0, most=MOST_CYCLES, unit="cycles", description="when the thread calls; never decreasing"
    )
    thread: int = lever(least=0, most=MOST_THREADS, description="its number; rising among the rows of one arrival")
    bytes: int = lever(least=0, most=MOST_BYTES, unit="bytes", description="what it asks for")


class MallocFile(CsvFile):
    """The calls of a CSV file, one a row, with the columns of `MallocRow` and perhaps `free_at`.

    `free_at` is the cycle from which the thread gives up what it got, -1 for never, which is what a file without that
    column means.
    """

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Content:
        optional = {"free_at": _FREE} if "free_at" in column_names(text) else {}
        columns = read_columns(text, {**MallocRow.levers, **optional}, where, "; there may be free_at")
        calls = Mallocs(**{"free_at": np.full(len(columns["arrival"]), -1), **columns})
        _check_order(calls, where)
        return Content(sha256, calls)

    def mallocs(self, machine: Any, streams: Streams) -> Mallocs:
        return Mallocs(*(column.copy() for column in self.content().calls))


class Content(NamedTuple):
    """What a malloc file holds."""

    sha256: str
    """Digest of the content, uncompressed."""
    calls: Mallocs


def _check_order(calls: Mallocs, where: str) -> None:
    arrival, thread = calls.arrival, calls.thread
    wrong = (arrival[1:] < arrival[:-1]) | ((arrival[1:] == arrival[:-1]) & (thread[1:] <= thread[:-1]))
    if wrong.any():
        row = int(np.argmax(wrong)) + 1
        late = arrival[row] < arrival[row - 1]
        column, value, before = ("arrival", arrival, "at least") if late else ("thread", thread, "above")
        problem = f"{column} must be {before} {value[row - 1]}, that of the row before"
        raise InputError(f"{where}: {row_place(row)}: {problem}. Got {value[row]}.")
    early = (calls.free_at >= 0) & (calls.free_at < arrival)
    if early.any():
        row = int(np.argmax(early))
        problem = f"free_at must be -1 (never) or at least the arrival ({arrival[row]})"
        raise InputError(f"{where}: {row_place(row)}: {problem}. Got {calls.free_at[row]}.")
