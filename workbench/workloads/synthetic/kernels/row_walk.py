"""A warp walks the neighbours of a vertex: the loads that sparse kernels have in common."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.workloads.synthetic.kernels.graphs import Rows
from workbench.workloads.synthetic.kernels.spans import Spans, spans


class RowWalk(NamedTuple):
    """Warps that each walk one row, warp_size neighbours an instruction."""

    rows: Rows
    place: np.ndarray
    """int64[warps], the place of each warp's workgroup."""
    warp: np.ndarray
    """int64[warps], of its workgroup."""
    vertex: np.ndarray
    """int64[warps], the row of each."""
    warp_size: int

    def begins(self, base: int, step: int, index_bytes: int) -> Spans:
        """Return a load of where the row begins and where the next one does, both at once."""
        return spans(self.place, self.warp, step, base + self.vertex * index_bytes, 2 * index_bytes)

    def along(self, base: int, step: int, every: int, element_bytes: int) -> Spans:
        """Return the loads of what lies beside the neighbours, in step, step + every, ... of each warp."""
        warp, chunk, first, count = self._chunks()
        address = base + first * element_bytes
        return spans(self.place[warp], self.warp[warp], step + chunk * every, address, count * element_bytes)

    def gathered(self, base: int, step: int, every: int, element_bytes: int, chosen: np.ndarray | None = None) -> Spans:
        """Return the accesses to what belongs to each neighbour, a lane each; `chosen`: bool[edges], which of them take
        part."""
        warp, edge = self.edges()
        chunk = (edge - self.rows.begins[self.vertex[warp]]) // self.warp_size
        if chosen is not None:
            warp, edge, chunk = warp[chosen[edge]], edge[chosen[edge]], chunk[chosen[edge]]
        address = base + self.rows.neighbour[edge].astype(np.int64) * element_bytes
        return spans(self.place[warp], self.warp[warp], step + chunk * every, address, element_bytes)

    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return every edge of every warp's row: int64[edges] warp and int64[edges] place in `neighbour`."""
        return _ranges(self.rows.begins[self.vertex], self._degree())

    def _chunks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return, of every part of a row that an instruction covers: warp, which part, its first edge and how many."""
        degree = self._degree()
        parts = -(-degree // self.warp_size)
        warp, chunk = _ranges(np.zeros(len(degree), np.int64), parts)
        done = chunk * self.warp_size
        return warp, chunk, self.rows.begins[self.vertex[warp]] + done, np.minimum(degree[warp] - done, self.warp_size)

    def _degree(self) -> np.ndarray:
        degree: np.ndarray = self.rows.begins[self.vertex + 1] - self.rows.begins[self.vertex]
        return degree


def _ranges(begin: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return begin, begin + 1, ... for `count` numbers of each row: the row of each number, and the number.

    >>> _ranges(np.array([5, 0, 9]), np.array([2, 0, 1]))
    (array([0, 0, 2]), array([5, 6, 9]))
    """
    row = np.repeat(np.arange(len(count)), count)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(count) - count - begin, count)
