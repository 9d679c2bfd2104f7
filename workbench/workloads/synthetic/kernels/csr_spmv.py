"""A sparse matrix times a vector."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.graphs import Graph, UniformGraph
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.row_walk import RowWalk
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans

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
