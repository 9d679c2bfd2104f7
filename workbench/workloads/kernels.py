"""The kernels of one trace as columns, whatever the format that they came from."""

from __future__ import annotations

from array import array
from typing import NamedTuple

import numpy as np

MISSING = -1
"""What stands in a row whose value the trace does not hold, in a column that other rows have; never zero."""


class KernelTable(NamedTuple):
    """One row a kernel launch, in the order of the file; a column that the trace does not hold at all is None.

    A column that says int64 may be narrower where all its values fit, as `KernelColumns` makes them; `take` widens.
    """

    unique_names: tuple[str, ...]
    """Every name once, in the order of first appearance."""
    name: np.ndarray
    """int64[rows], the place of each kernel's name in `unique_names`."""
    start_ns: np.ndarray
    """int64[rows], when each began, in nanoseconds of the trace's own clock."""
    duration_ns: np.ndarray
    """int64[rows], how long each ran."""
    device: np.ndarray
    """int64[rows], the number of the card that ran it."""
    stream: np.ndarray | None
    """int64[rows], the number of the stream that it was launched on."""
    workgroups: np.ndarray | None
    """int64[rows], workgroups (blocks) of the grid."""
    threads: np.ndarray | None
    """int64[rows], threads (work-items) of a workgroup."""
    block: np.ndarray | None
    """int64[rows, 3], the same along x, y and z."""
    shared_bytes: np.ndarray | None
    """int64[rows], shared memory (LDS) of a workgroup, static and dynamic together."""
    vgprs: np.ndarray | None
    """int64[rows], vector registers of a thread (NVIDIA: registers), accumulation registers not counted."""
    accum_vgprs: np.ndarray | None
    """int64[rows], accumulation registers of a thread (AMD)."""
    sgprs: np.ndarray | None
    """int64[rows], scalar registers of a wave (AMD)."""
    correlation: np.ndarray | None
    """int64[rows], the number that joins a kernel to the call that launched it."""
    queue: np.ndarray | None = None
    """int64[rows], the hardware queue that it went through (AMD)."""
    launch_shared_bytes: np.ndarray | None = None
    """int64[rows], the dynamic shared memory that the launching call asked for, where the trace holds that apart."""
    either_workgroups: np.ndarray | None = None
    """int64[rows, 2], workgroups where the file does not say what its grid counts: if workgroups, if work-items."""

    @property
    def rows(self) -> int:
        """Return how many launches there are."""
        return len(self.name)

    def lacking(self, field: str) -> int:
        """Return in how many rows a column's value is missing: all of them where the trace has no such column."""
        column = getattr(self, field)
        return self.rows if column is None else int(np.count_nonzero(column.reshape(self.rows, -1)[:, 0] == MISSING))

    def name_of(self, row: int) -> str:
        """Return the name of one launch."""
        return self.unique_names[self.name[row]]

    def registers(self) -> np.ndarray | None:
        """Return vector and accumulation registers of a thread together, int64[rows], MISSING where they are not
        known."""
        if self.vgprs is None or self.accum_vgprs is None:
            return self.vgprs
        known = (self.vgprs != MISSING) & (self.accum_vgprs != MISSING)
        return np.where(known, self.vgprs.astype(np.int64) + self.accum_vgprs, MISSING)

    def take(self, rows: np.ndarray) -> KernelTable:
        """Return the same table with these rows only, in this order, every column int64."""
        taken = (c if c is None else c[rows].astype(np.int64, copy=False) for c in self[1:])
        return KernelTable(self.unique_names, *taken)  # type: ignore[arg-type]


_NOT_BY_ROW = ("block", "launch_shared_bytes", "either_workgroups")


class KernelRows:
    """Gathers launches one by one into a table, eight bytes a value.

    >>> rows = KernelRows()
    >>> rows.add("gemm", start_ns=10, duration_ns=5, device=0, workgroups=4, threads=64)
    >>> rows.add("gemm", start_ns=30, duration_ns=6, device=0)
    >>> table = rows.table()
    >>> table.unique_names, table.workgroups, table.lacking("threads"), table.shared_bytes is None
    (('gemm',), array([ 4, -1]), 1, True)
    """

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._columns = {field: array("q") for field in KernelTable._fields[1:] if field not in _NOT_BY_ROW}
        self._appends = [(field, column.append) for field, column in self._columns.items()]
        self._block = array("q")

    def add(self, name: str, block: tuple[int, int, int] | None = None, **values: int | None) -> None:
        """Add one launch; a value that is left out or None is missing in its row."""
        values["name"] = self._places.setdefault(name, len(self._places))
        value_of = values.get
        for field, append in self._appends:
            value = value_of(field)
            append(MISSING if value is None else value)
        self._block.extend(block or (MISSING, MISSING, MISSING))

    def table(self) -> KernelTable:
        """Return the launches so far; a column without one value is None, but for those that every launch must have."""
        made = {field: _column(column) for field, column in self._columns.items()}
        block = np.array(self._block, np.int64).reshape(-1, 3)
        made["block"] = block if (block != MISSING).any() else None
        for field in ("name", "start_ns", "duration_ns", "device"):
            made[field] = np.array(self._columns[field], np.int64)
        return KernelTable(tuple(self._places), **made)  # type: ignore[arg-type]


def _column(values: array[int]) -> np.ndarray | None:
    column = np.array(values, np.int64)
    return column if (column != MISSING).any() else None
