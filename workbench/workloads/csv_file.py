"""The base of workloads in CSV files of the user.

A workload in a file is read once a process, named by its content, and refused when it changes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Self

import numpy as np

from workbench.errors import InputError
from workbench.files import FileMemo
from workbench.identity import current
from workbench.levers import lever
from workbench.workloads.csv_columns import row_place
from workbench.workloads.importers.source import Source
from workbench.workloads.workload import Workload

MOST_CYCLES = 10**15

_LATEST = float(1 << 61)

_contents = FileMemo[Any](most=4)


class CsvFile(Workload):
    """The base of every workload that is one CSV file; it says with `parsed` what the file holds.

    Its identity is the SHA-256 digest of the file's content (of what is inside, for a compressed file), so that a run
    is found again wherever the file lies. A file that changes after it was read is refused.
    """

    random = False
    file: str = lever(description="path of the CSV file, which may be compressed (.gz, .xz, .bz2)")
    sha256: str = lever("", description="digest that the content must have; empty: any")

    @classmethod
    def parsed(cls, text: bytes, sha256: str, where: str) -> Any:
        """Parse what a text holds, with the `sha256` that it is given.

        Raises
        ------
        InputError
            A row is wrong.
        """
        raise NotImplementedError

    def content(self) -> Any:
        """Return the content of the file, read once a process.

        Raises
        ------
        InputError
            The file cannot be read, a row is wrong, or its digest is not the one that is asked for.
        """
        return self._content()

    def _content(self, anew: bool = False) -> Any:
        key = self.parsed, self.file, current(type(self)).digest
        content = _contents.get(key, self.file, self._read, anew)
        if self.sha256 and self.sha256 != content.sha256:
            raise InputError(
                f"{self.file}: its content has changed: the digest is {content.sha256}, not {self.sha256}."
            )
        return content

    def _read(self, before: Any) -> Any:
        """Read the file; what was parsed before stands where the bytes are the same."""
        text = Source(self.file).whole()
        sha256 = hashlib.sha256(text).hexdigest()
        return before if before is not None and before.sha256 == sha256 else self.parsed(text, sha256, self.file)

    def pinned(self) -> Self:
        """Return the same, with the digest of what the file holds now."""
        return self.but(sha256=self._content(anew=True).sha256)

    def identity(self) -> dict[str, Any]:
        """Return the levers, with the content by its digest: where the file lies says nothing about what a run
        gives."""
        own = super().identity()
        del own[self.name]["file"]
        own[self.name]["sha256"] = self.content().sha256
        return own

    def short(self, always: Collection[str] = ()) -> str:
        """Return the file's name, as figures and tables show it."""
        return f"{self.name}({Path(self.file).name})"


def check_times(arrival: np.ndarray, duration: np.ndarray, where: str) -> None:
    """Refuse rows that are not in queue order, and times that no clock reaches."""
    earlier = np.flatnonzero(arrival[1:] < arrival[:-1])
    if earlier.size:
        row = int(earlier[0]) + 1
        order = f"arrival must not be below the row above it ({arrival[row - 1]}), as rows are in queue order"
        raise InputError(f"{where}: {row_place(row)}: {order}. Got {arrival[row]}. Sort the rows by arrival.")
    end = float(arrival[-1]) + float(duration.sum(dtype=np.float64))
    if end > _LATEST:
        raise InputError(
            f"{where}: arrivals and durations must end before cycle 2^61 even one by one. They sum to {end:.2g}."
        )
