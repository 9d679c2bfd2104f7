"""A graph is searched from one vertex, level by level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.graphs import Graph, PowerLawGraph, Rows
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel, Touched
from workbench.workloads.synthetic.kernels.row_walk import RowWalk
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans

_INDEX_BYTES = 4


class GraphBfs(PageKernel, Generator):
    """Breadth-first search, a launch a level, a warp a vertex.

    In the launch of a level every warp loads the level of its vertex. If the vertex is of this level, the warp loads
    where its neighbours begin and end; then, for each warp_size of them, the neighbours, their levels, which is a
    gather, and it stores the level of those that had none. The search begins at the vertex with most neighbours (the
    lowest of them), so that it does not end at once, and ends when a level is empty.

    References
    ----------
    S. Hong, S. K. Kim, T. Oguntebi and K. Olukotun, Accelerating CUDA Graph Algorithms at Maximum Warp, PPoPP 2011
    (level-synchronous, warp-centric).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = GraphBfs(graph={"uniform_graph": [6, 4]})
    >>> blocks = list(kernel.accesses(TranslationMachine(cores=2), Streams(0)))
    >>> len(blocks), len(blocks[0].page)  # a block a level; the first has 64 vertices and one to expand
    (5, 68)
    """

    element_bytes: int = lever(
        4, least=1, most=16, scale="power_of_two", unit="bytes", description="the level of a vertex"
    )
    graph: Graph = lever(PowerLawGraph(scale=14, degree=16, a=0.57, b=0.19, c=0.19), description="what is searched")
    warps: int = lever(8, least=1, most=32, unit="warps", description="vertices of a workgroup")

    def array_bytes(self) -> list[int]:
        """Return the bytes of where neighbours begin, the neighbours, and the levels."""
        vertices = self.graph.vertices
        return [(vertices + 1) * _INDEX_BYTES, self.graph.edges * _INDEX_BYTES, vertices * self.element_bytes]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        rows = self.graph.rows(streams)
        level = levels(rows)
        for current in range(int(level.max()) + 1):
            touched = self._level(rows, level, current, places)
            typical = self.warps * (1 + self.graph.degree * 3)
            yield Launch(-(-rows.vertices // self.warps), touched, typical)

    def _level(self, rows: Rows, level: np.ndarray, current: int, places: list[int]) -> Touched:
        begins, neighbours, of_level = places
        known = (level >= 0) & (level <= current)
        found = ~known[rows.neighbour] & (np.repeat(level, np.diff(rows.begins)) == current)

        def touched(workgroup: np.ndarray) -> Spans:
            vertex = workgroup[:, None] * self.warps + np.arange(self.warps)
            place, warp = np.broadcast_arrays(np.arange(len(workgroup))[:, None], np.arange(self.warps))
            there = vertex < rows.vertices
            place, warp, vertex = place[there], warp[there], vertex[there]
            own = spans(place, warp, 0, of_level + vertex * self.element_bytes, self.element_bytes)
            at = level[vertex] == current
            walk = RowWalk(rows, place[at], warp[at], vertex[at], self.warp_size)
            return joined([
                own,
                walk.begins(begins, 1, _INDEX_BYTES),
                walk.along(neighbours, 2, 3, _INDEX_BYTES),
                walk.gathered(of_level, 3, 3, self.element_bytes),
                walk.gathered(of_level, 4, 3, self.element_bytes, found),
            ])  # fmt: skip

        return touched


def levels(rows: Rows) -> np.ndarray:
    """Return how many edges each vertex is from the one with most neighbours: int64[vertices], -1 = it is not reached.

    >>> levels(Rows(np.array([0, 2, 3, 3, 3]), np.array([1, 1, 2], np.int32))).tolist()
    [0, 1, 2, -1]
    """
    level = np.full(rows.vertices, -1, np.int64)
    front = np.array([int(np.argmax(np.diff(rows.begins)))])
    depth = 0
    while len(front):
        level[front] = depth
        _, edge = RowWalk(rows, front, front, front, 1).edges()
        front = np.unique(rows.neighbour[edge])
        front = front[level[front] < 0]
        depth += 1
    return level
