"""From what warps touch to the accesses of cores: one for each page of an instruction, in the order of execution.

Which core runs a workgroup is the order of dispatch, a lever. The cycle at which a warp executes an instruction is not
known, so it is a model. A core runs `resident` workgroups at once and begins the next ones when those have ended (a
wave). Within a wave all warps of all cores go on in step, an instruction each. The k-th access of a core is issued k
times `gap` cycles after the first, and no access before the one above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.workloads import workload as blocks
from workbench.workloads.workload import Accesses


class WarpPages(NamedTuple):
    """Pages that instructions of warps touch, one row a page of an instruction; rows may repeat and be in any order."""

    wave: np.ndarray
    """int64[rows], which turn of its core each workgroup is in."""
    step: np.ndarray
    """int64[rows], the how-manieth instruction of its warp."""
    workgroup: np.ndarray
    """int64[rows], its place in the order of dispatch."""
    warp: np.ndarray
    """int64[rows], of its workgroup."""
    page: np.ndarray
    """int64[rows]"""
    core: np.ndarray
    """int32[rows], which core runs the workgroup."""

    def coalesced(self) -> WarpPages:
        """Return every page of an instruction once, lowest first, in the order of execution.

        >>> one = np.zeros(3, np.int64)
        >>> WarpPages(one, one, one, one, np.array([5, 4, 5]), one).coalesced().page.tolist()
        [4, 5]
        """
        order = np.lexsort((self.page, self.warp, self.workgroup, self.step, self.wave))
        rows = WarpPages(*(column[order] for column in self))
        new = changes(rows.page)
        for column in rows[:-2]:
            new |= changes(column)
        return WarpPages(*(column[new] for column in rows))


def changes(column: np.ndarray) -> np.ndarray:
    """Return whether a row differs from the one above it; the first does: bool[rows].

    >>> changes(np.array([3, 3, 5])).tolist()
    [True, False, True]
    """
    new = np.ones(len(column), bool)
    new[1:] = column[1:] != column[:-1]
    return new


class CoreClock:
    """When each access is issued, if every core has one in `gap` cycles; cycles never decrease.

    >>> clock = CoreClock(2, 10.0)
    >>> clock.cycles(np.array([0, 0, 1])).tolist(), clock.cycles(np.array([1, 1])).tolist()
    ([0, 10, 10], [10, 20])
    """

    def __init__(self, cores: int, gap: float) -> None:
        self._ordinals, self._gap, self._last = Ordinals(cores), gap, 0

    def cycles(self, core: np.ndarray) -> np.ndarray:
        """Return the cycles of the next accesses: int64[count]."""
        cycle = np.maximum.accumulate((self._ordinals.of(core) * self._gap).astype(np.int64))
        np.maximum(cycle, self._last, out=cycle)
        self._last = int(cycle[-1]) if len(cycle) else self._last
        return cycle

    def accesses(self, core: np.ndarray, page: np.ndarray) -> Accesses:
        """Return the next accesses, of these cores to these pages."""
        return Accesses(self.cycles(core), core.astype(np.int32), page)


def cut(given: Iterator[Accesses], count: int = 0) -> Iterator[Accesses]:
    """Yield the first so many accesses (0 = all) in blocks that are not too large, and none that is empty."""
    left = count or np.iinfo(np.int64).max
    for block in given:
        for first in range(0, min(len(block.core), left), blocks.ROWS):
            rows = slice(first, min(first + blocks.ROWS, left))
            yield Accesses(*(column if column is None else column[rows] for column in block))  # type: ignore[arg-type]
        left -= len(block.core)
        if left <= 0:
            return


def merged(given: list[Iterator[Accesses]]) -> Iterator[Accesses]:
    """Yield several traces at the same time: by cycle, of equal cycles the earlier trace first.

    >>> def trace(*cycles): yield Accesses(np.array(cycles), np.zeros(len(cycles), np.int32), np.array(cycles) + 10)
    >>> [block.cycle.tolist() for block in merged([trace(1, 5), trace(2, 3, 5)])]
    [[1, 2, 3], [5, 5]]
    """
    held, ends = [_NOTHING] * len(given), [-1] * len(given)
    while True:
        horizon = min(ends, default=_NEVER)
        for k, trace in enumerate(given):
            if ends[k] == horizon < _NEVER:
                more = next(trace, None)
                held[k] = held[k] if more is None else _joined([held[k], more])
                ends[k] = _NEVER if more is None else int(held[k].cycle[-1])
        horizon = min(ends, default=_NEVER)
        cuts = [int(np.searchsorted(block.cycle, horizon)) for block in held]
        ready = _joined([_rows(block, slice(0, cut)) for block, cut in zip(held, cuts)])
        held = [_rows(block, slice(cut, None)) for block, cut in zip(held, cuts)]
        if len(ready.cycle):
            yield _rows(ready, np.argsort(ready.cycle, kind="stable"))
        if horizon == _NEVER:
            return


_NEVER = 1 << 62
_NOTHING = Accesses(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0, np.int64))


def _rows(block: Accesses, rows: slice | np.ndarray) -> Accesses:
    return Accesses(block.cycle[rows], block.core[rows], block.page[rows])


def _joined(parts: list[Accesses]) -> Accesses:
    columns = zip(*((part.cycle, part.core, part.page) for part in parts))
    return Accesses(*(np.concatenate(column) for column in columns))


class Ordinals:
    """Counts rows by group; a block goes on where the block before it ended.

    Parameters
    ----------
    groups : int
        How many there are, numbered from 0.

    Examples
    --------
    >>> ordinals = Ordinals(2)
    >>> ordinals.of(np.array([0, 1, 0])).tolist(), ordinals.of(np.array([1, 0])).tolist()
    ([0, 0, 1], [1, 2])
    """

    def __init__(self, groups: int) -> None:
        self._kind = np.int16 if groups <= 1 << 15 else np.int64  # NumPy sorts 16 bits by radix, ten times as fast
        self._before = np.zeros(groups, np.int64)

    def of(self, group: np.ndarray) -> np.ndarray:
        """Return the rows of the same group before each row: int64[rows]."""
        order = np.argsort(group.astype(self._kind), kind="stable")
        in_block = np.bincount(group, minlength=len(self._before))
        place = np.arange(len(group)) - np.repeat(np.cumsum(in_block) - in_block, in_block)
        ordinals = np.empty(len(group), np.int64)
        ordinals[order] = place
        ordinals += self._before[group]
        self._before += in_block
        return ordinals
