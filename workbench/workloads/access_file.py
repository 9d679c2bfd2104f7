"""Accesses to pages in a CSV file of the user's."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError, at
from workbench.levers import Lever, Spec, lever
from workbench.streams import Streams
from workbench.workloads.csv_columns import row_place, stream_columns
from workbench.workloads.csv_file import MOST_CYCLES, CsvFile
from workbench.workloads.importers.source import Source
from workbench.workloads.warp_pages import cut
from workbench.workloads.workload import Accesses

MOST_PAGES = 1 << 57
_OPTIONAL = {"unmap": Lever("unmap", "integer", least=0, most=1)}


class AccessRow(Spec):
    """What every row of an access file says (`docs/api`, Workload files)."""

    cycle: int = lever(least=0, most=MOST_CYCLES, unit="cycles", description="when it is issued at the earliest")
    core: int = lever(least=0, most=1023, description="the core that asks, from 0")
    page: int = lever(least=0, most=MOST_PAGES - 1, description="the virtual page number, in pages of the machine")


class AccessFile(CsvFile):
    """The accesses of a CSV file, one a row, cycles not decreasing, with the columns of `AccessRow`.

    It may have a column `unmap`: in a row with 1 the page is unmapped, and every translation of it goes; the core is
    the one that does so. The file is read once when it is named, to check every row, and again for every run; neither
    holds more than some megabytes of it.
    """

    def _read(self, before: Content | None) -> Content:
        """Read the file row by row, or its bytes alone where they are the ones that were read before."""
        digest = hashlib.sha256()
        for _ in _pieces(self.file, digest) if before is not None else ():
            pass
        return before if before is not None and before.sha256 == digest.hexdigest() else _checked(self.file)

    def check_machine(self, machine: Any, path: str = "", where: str = "") -> None:
        content = self.content()
        for what, (row, most), there in (
            ("core", content.core, machine.cores),
            ("page", content.page, machine.pages),
        ):
            if most >= there:
                problem = f"{what} must be below {there}, all that the machine has. Got {most}. Nearest: {there - 1}."
                raise InputError(at(where, f"{self.file}: {row_place(row)}: {problem}"))

    def accesses(self, machine: Any, streams: Streams) -> Iterator[Accesses]:
        """Return the accesses, in blocks; the file is read as they are asked for."""
        self.check_machine(machine)
        return cut(_rows_of_file(self.file, self.content().sha256))


class Content(NamedTuple):
    """What was found in an access file."""

    sha256: str
    """Digest of the content, uncompressed."""
    rows: int
    core: tuple[int, int]
    """The first row with the highest core, and that core."""
    page: tuple[int, int]
    """Likewise the page."""


def _pieces(file: str, digest: Any) -> Iterator[bytes]:
    """Yield the rows of a file, digested as it goes by."""
    for piece in Source(file).pieces():
        digest.update(piece)
        yield piece


def _checked(file: str) -> Content:
    """Return the content of a file, every row checked."""
    digest, rows, last = hashlib.sha256(), 0, 0
    highest = {"core": (0, -1), "page": (0, -1)}
    for part in stream_columns(_pieces(file, digest), AccessRow.levers, _OPTIONAL, file):
        _check_order(part["cycle"], last, rows, file)
        last = int(part["cycle"][-1])
        for name, (_, most) in highest.items():
            row = int(np.argmax(part[name]))
            if part[name][row] > most:
                highest[name] = (rows + row, int(part[name][row]))
        rows += len(part["cycle"])
    return Content(digest.hexdigest(), rows, highest["core"], highest["page"])


def _check_order(cycle: np.ndarray, last: int, above: int, where: str) -> None:
    earlier = np.flatnonzero(np.diff(cycle, prepend=last) < 0)
    if earlier.size:
        row = int(earlier[0])
        before = cycle[row - 1] if row else last
        order = f"cycle must not be below the row above it ({before}), as rows are in the order of time"
        raise InputError(f"{where}: {row_place(above + row)}: {order}. Got {cycle[row]}. Sort the rows by cycle.")


def _rows_of_file(file: str, sha256: str) -> Iterator[Accesses]:
    """Yield the rows of a file; refused at its end where it is not the one of the digest any more."""
    digest = hashlib.sha256()
    for part in stream_columns(_pieces(file, digest), AccessRow.levers, _OPTIONAL, file):
        unmap = part["unmap"].astype(bool) if "unmap" in part else None
        yield Accesses(part["cycle"], part["core"].astype(np.int32), part["page"], unmap)
    if digest.hexdigest() != sha256:
        raise InputError(f"{file}: its content has changed while it was read; run it again.")
