"""Which pages do kernels touch whose addresses are data? A sparse matrix, a search of a graph, a gather of rows.

Graphs are generated, as rows of neighbors (compressed sparse rows).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.graphs import Graph, PowerLawGraph, Rows, UniformGraph
from workbench.workloads.synthetic.page_kernels import Launch, PageKernel, Spans, Touched, joined, spans
from workbench.workloads.synthetic.page_patterns import Zipf
from workbench.workloads.workload import Generator

_INDEX_BYTES = 4


class CsrSpmv(PageKernel, Generator):
    """y = M x with M in compressed sparse rows, a warp a row; M is the matrix of a graph.

    A warp loads where its row begins and ends; then, for each warp_size elements of the row, their columns, their
    values, and x at those columns, which is a gather; at the end it stores y.

    References
    ----------
    N. Bell and M. Garland, Implementing Sparse Matrix-Vector Multiplication on Throughput-Oriented Processors, SC 2009
    (the vector kernel of CSR).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = CsrSpmv(graph={"uniform_graph": [6, 4]})
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page)  # 64 rows of 5 instructions; none is empty, and none has more than a warp's width
    320
    """

    graph: Graph = lever(UniformGraph(scale=14, degree=16), description="whose edges are the matrix")
    warps: int = lever(8, least=1, most=32, unit="warps", description="rows of a workgroup")

    def array_bytes(self) -> list[int]:
        """Return the bytes of where rows begin, columns, values, x and y."""
        vertices, edges = self.graph.vertices, self.graph.edges
        of_vector = vertices * self.element_bytes
        return [(vertices + 1) * _INDEX_BYTES, edges * _INDEX_BYTES, edges * self.element_bytes, of_vector, of_vector]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        rows = self.graph.rows(streams)
        begins, columns, values, x, y = places

        def touched(workgroup: np.ndarray) -> Spans:
            row = workgroup[:, None] * self.warps + np.arange(self.warps)
            place, warp = np.broadcast_arrays(np.arange(len(workgroup))[:, None], np.arange(self.warps))
            there = row < rows.vertices
            walk = RowWalk(rows, place[there], warp[there], row[there], self.warp_size)
            return joined([
                walk.begins(begins, 0, _INDEX_BYTES),
                walk.along(columns, 1, 3, _INDEX_BYTES),
                walk.along(values, 2, 3, self.element_bytes),
                walk.gathered(x, 3, 3, self.element_bytes),
                spans(walk.place, walk.warp, 1 << 40, y + walk.vertex * self.element_bytes, self.element_bytes),
            ])  # fmt: skip

        yield Launch(-(-rows.vertices // self.warps), touched, self.warps * (self.graph.degree + 4))


class GraphBfs(PageKernel, Generator):
    """Breadth-first search, a launch a level, a warp a vertex.

    In the launch of a level every warp loads the level of its vertex. If the vertex is of this level, the warp loads
    where its neighbors begin and end. Then, for each warp_size of them, it loads the neighbors and their levels, which
    is a gather. It stores the level of those that had none. The search begins at the vertex with most neighbors (the
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
        """Return the bytes of where neighbors begin, the neighbors, and the levels."""
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
        frontier = ~known[rows.neighbour] & (np.repeat(level, np.diff(rows.begins)) == current)

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
                walk.gathered(of_level, 4, 3, self.element_bytes, frontier),
            ])  # fmt: skip

        return touched


def levels(rows: Rows) -> np.ndarray:
    """Return the number of edges from the vertex with most neighbors to each vertex: int64[vertices], -1 = it is not
    frontier.

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


_BYTES_OF_ROW_NUMBER = 8


class EmbeddingGather(PageKernel, Generator):
    """Each warp sums `lookups` rows of a table, drawn by Zipf's law, and stores the sum.

    A warp loads an index of its bag (all lanes the same 8 bytes), then the row, warp_size elements an instruction, and
    the next index; at the end it stores the sum. Which row of the table is the k-th most frequent is drawn as well, so
    frequent rows do not lie together, as hashed identifiers do not.

    References
    ----------
    M. Naumov et al., Deep Learning Recommendation Model for Personalization and Recommendation Systems, 2019 (embedding
    bags with sum pooling; a warp a bag, as in their batched embedding kernels). Zipf: spec 4, section 6.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = EmbeddingGather(table_rows=1000, dimension=64, bags=8, lookups=2, warps=4)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page)  # 8 bags: 2 lookups of an index and 2 parts of a row, then 2 parts of the sum
    64
    """

    table_rows: int = lever(1 << 20, least=1, most=1 << 26, scale="log", unit="rows", description="rows of the table")
    dimension: int = lever(64, least=1, most=4096, scale="log", unit="elements", description="elements of a row")
    bags: int = lever(4096, least=1, most=1 << 24, scale="log", unit="bags", description="sums that are asked for")
    lookups: int = lever(32, least=1, most=4096, scale="log", unit="rows", description="rows of each sum")
    alpha: float = lever(1.0, least=0, most=8, step=0.1, description="how much more often the first rows come")
    warps: int = lever(8, least=1, most=32, unit="warps", description="bags of a workgroup")

    def array_bytes(self) -> list[int]:
        """Return the bytes of the table, the indices and the sums."""
        row = self.dimension * self.element_bytes
        return [self.table_rows * row, self.bags * self.lookups * _BYTES_OF_ROW_NUMBER, self.bags * row]

    def rows(self, streams: Streams) -> np.ndarray:
        """Return the table's row of every look-up: int64[bags, lookups]."""
        rank = streams.uniforms("lookups", self.bags * self.lookups)
        popular = Zipf(alpha=self.alpha).reader(self.table_rows, 1)(np.zeros(0, np.int32), rank)
        place = np.argsort(streams.uniforms("table", self.table_rows), kind="stable")
        return place[popular].reshape(self.bags, self.lookups)

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        rows, parts = self.rows(streams), -(-self.dimension // self.warp_size)
        row_bytes, last = self.dimension * self.element_bytes, self.lookups * (1 + parts)

        def touched(workgroup: np.ndarray) -> Spans:
            bag = workgroup[:, None] * self.warps + np.arange(self.warps)
            place, warp = np.broadcast_arrays(np.arange(len(workgroup))[:, None], np.arange(self.warps))
            place, warp, bag = place[bag < self.bags], warp[bag < self.bags], bag[bag < self.bags]
            part, lookup = np.arange(parts), np.arange(self.lookups)
            begins = part * self.warp_size * self.element_bytes
            size = np.minimum(row_bytes - begins, self.warp_size * self.element_bytes)
            index = places[1] + (bag[:, None] * self.lookups + lookup) * _BYTES_OF_ROW_NUMBER
            row = places[0] + rows[bag][:, :, None] * row_bytes + begins
            total = places[2] + bag[:, None] * row_bytes + begins
            step = lookup * (1 + parts)
            return joined([
                spans(place[:, None], warp[:, None], step, index, _BYTES_OF_ROW_NUMBER),
                spans(place[:, None, None], warp[:, None, None], step[:, None] + 1 + part, row, size),
                spans(place[:, None], warp[:, None], last + part, total, size),
            ])  # fmt: skip

        yield Launch(-(-self.bags // self.warps), touched, self.warps * (last + parts))


class RowWalk(NamedTuple):
    """Warps that each walk one row, warp_size neighbors an instruction."""

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
        """Return the loads of the arrays other than the neighbors, in step, step + every, ... of each warp."""
        warp, chunk, first, count = self._chunks()
        address = base + first * element_bytes
        return spans(self.place[warp], self.warp[warp], step + chunk * every, address, count * element_bytes)

    def gathered(self, base: int, step: int, every: int, element_bytes: int, chosen: np.ndarray | None = None) -> Spans:
        """Return the accesses to what belongs to each neighbor, a lane each; `chosen`: bool[edges], which of them take
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
