"""The kernels of one trace as columns, whatever the format that they came from, and what gathers them.

`KernelRows` takes them one by one, `KernelColumns` millions of launches batch by batch; its columns are as narrow as
their values.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.units import workgroups_for

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
        """Return the number of launches."""
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
        values = {field: np.array(column, np.int64) for field, column in self._columns.items()}
        numbers, columns = values.pop("name"), KernelColumns()
        columns.add(numbers, block=np.array(self._block, np.int64).reshape(-1, 3), **values)
        return columns.table(dict(enumerate(self._places))).take(np.arange(len(numbers)))


def shape_of(
    grid: Sequence[int] | None, block: tuple[int, int, int] | None, in_work_items: bool = False
) -> dict[str, Any]:
    """Return the columns `block`, `workgroups` and `threads` of a launch; a grid may count work-items along each axis.

    >>> shape_of((1000, 8, 1), (64, 4, 1), in_work_items=True)
    {'block': (64, 4, 1), 'workgroups': 32, 'threads': 256}
    """
    if in_work_items and grid and block:
        grid = [workgroups_for(items, size) for items, size in zip(grid, block, strict=True)]
    return {"block": block, "workgroups": grid and math.prod(grid), "threads": block and math.prod(block)}


_WIDTHS = (np.int8, np.int16, np.int32)
_REQUIRED = ("start_ns", "duration_ns", "device")
_LARGEST = 1 << 62
_ROWS_AT_FIRST = 1 << 16


class KernelColumns:
    """Collects launches as columns of whole numbers; ten million of them take some 400 MB.

    >>> columns, both = KernelColumns(), np.array([7, 7])
    >>> columns.add(both, start_ns=np.array([10, 30]), duration_ns=np.array([5, 6]), device=np.zeros(2))
    >>> table = columns.table({7: "gemm"})
    >>> table.unique_names, table.duration_ns.tolist(), table.duration_ns.dtype, table.workgroups is None
    (('gemm',), [5, 6], dtype('int8'), True)
    """

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        self._columns = {field: GrowingColumn(3 if field == "block" else 1) for field in KernelTable._fields[1:]}

    def add(self, numbers: np.ndarray, **columns: np.ndarray | None) -> None:
        """Add a batch of launches.

        Parameters
        ----------
        numbers : int64[rows]
            The number that each has for a name, see `table`.
        **columns : int64[rows] (`block`: int64[rows, 3])
            Columns of `KernelTable`; one that is left out or None is missing in these rows, as is a value of MISSING.
        """
        unique, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
        places = np.empty(len(unique), np.int64)
        for k in np.argsort(first):
            places[k] = self._places.setdefault(int(unique[k]), len(self._places))
        columns["name"] = places[inverse]
        for field, column in self._columns.items():
            value = columns.get(field)
            column.append(np.broadcast_to(np.int8(MISSING), len(numbers) * column.axes) if value is None else value)

    @property
    def numbers(self) -> set[int]:
        """Return the numbers of names that were added."""
        return set(self._places)

    def table(self, texts: Mapping[int, str]) -> KernelTable:
        """Return the launches. A column without one value is None.

        Parameters
        ----------
        texts : mapping
            The name behind every number that was added; several numbers may be one name.
        """
        made: dict[str, np.ndarray | None] = {field: column.values() for field, column in self._columns.items()}
        for field, values in made.items():
            if field not in ("name", *_REQUIRED) and np.all(values == MISSING):
                made[field] = None
        names = [texts[key] for key in self._places]
        unique = {name: place for place, name in enumerate(dict.fromkeys(names))}
        if len(unique) < len(names):
            made["name"] = narrow(np.array([unique[name] for name in names]))[made["name"]]
        return KernelTable(tuple(unique), **made)  # type: ignore[arg-type]


class GrowingColumn:
    """Whole numbers that come in batches, held once, in the narrowest type that holds them all.

    >>> column = GrowingColumn()
    >>> column.append(np.array([1, 2])), column.append(np.array([300]))
    (None, None)
    >>> column.values()
    array([  1,   2, 300], dtype=int16)
    """

    def __init__(self, axes: int = 1) -> None:
        self.axes = axes
        """Numbers in a row."""
        self._held = np.empty(0, np.int8)
        self._length = 0

    def append(self, values: np.ndarray) -> None:
        """Add values, row after row."""
        added = narrow(values.reshape(-1))
        end = self._length + len(added)
        wide = np.promote_types(self._held.dtype, added.dtype)
        if end > len(self._held) or wide != self._held.dtype:
            room = len(self._held) if end <= len(self._held) else max(end + end // 2, _ROWS_AT_FIRST)
            held, self._held = self._held, np.empty(room, wide)  # space that is not written to takes no memory
            self._held[: self._length] = held[: self._length]
        self._held[self._length : end] = added
        self._length = end

    def values(self) -> np.ndarray:
        """Return the additions: [rows], or [rows, axes]."""
        values = self._held[: self._length]
        return values.reshape(-1, self.axes) if self.axes > 1 else values


def narrow(values: np.ndarray) -> np.ndarray:
    """Return whole numbers in the narrowest signed type that holds them all.

    >>> narrow(np.array([3, -1])).dtype, narrow(np.array([1 << 40])).dtype
    (dtype('int8'), dtype('int64'))
    """
    if not len(values):
        return values.astype(np.int8)
    least, most = int(values.min()), int(values.max())
    for width in _WIDTHS:
        limits = np.iinfo(width)
        if limits.min <= least and most <= limits.max:
            return values.astype(width, copy=False)
    return values.astype(np.int64, copy=False)


def timed_shapes(
    batch: Mapping[str, np.ndarray], grid: Sequence[str], block: Sequence[str], where: str, in_work_items: bool = False
) -> dict[str, np.ndarray]:
    """Return times, workgroups, threads and blocks of launches, columns of `KernelTable`.

    Parameters
    ----------
    batch : mapping of names to int64[rows]
        `start` and `end` in nanoseconds, and what the next two name.
    grid, block : three names each
        The axes, of the grid in workgroups, or in work-items where that is said.
    """
    sizes = np.stack([batch[axis] for axis in block], axis=1)
    along = (workgroups_for(batch[a], size) if in_work_items else batch[a] for a, size in zip(grid, sizes.T))
    return {
        "start_ns": batch["start"],
        "duration_ns": lasting(batch["start"], batch["end"], where),
        "workgroups": volume(along, where),
        "threads": volume(sizes.T, where),
        "block": sizes,
    }


def lasting(start: np.ndarray, end: np.ndarray, where: str) -> np.ndarray:
    """Return the durations of launches: int64[rows].

    Raises
    ------
    InputError
        A time is so far from 0 that differences do not fit in 64 bits.

    Examples
    --------
    >>> lasting(np.array([5]), np.array([9]), "t.db")
    array([4])
    """
    if max(np.abs(times.astype(float)).max(initial=0) for times in (start, end)) >= _LARGEST:
        raise InputError(f"{where}: holds a number that does not fit in 64 bits; the file is damaged.")
    return end - start


def volume(axes: Iterable[np.ndarray], where: str) -> np.ndarray:
    """Return the products of the axes of grids or workgroups, MISSING where an axis is: int64[rows].

    Raises
    ------
    InputError
        A product does not fit in 64 bits.

    Examples
    --------
    >>> volume([np.array([4, -1]), np.array([2, 1]), np.array([1, 1])], "t.db")
    array([ 8, -1])
    """
    x, y, z = (np.asarray(axis, np.int64) for axis in axes)
    known = (x != MISSING) & (y != MISSING) & (z != MISSING)
    if (np.abs(x.astype(float) * y * z)[known] > _LARGEST).any():
        raise InputError(f"{where}: holds a number that does not fit in 64 bits; the file is damaged.")
    return np.where(known, np.where(known, x, 0) * np.where(known, y, 0) * np.where(known, z, 0), MISSING)
