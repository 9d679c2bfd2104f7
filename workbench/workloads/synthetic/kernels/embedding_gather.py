"""Rows of a large table are gathered and summed, as recommendation models do."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans
from workbench.workloads.synthetic.page_patterns import Zipf

_INDEX_BYTES = 8


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
        return [self.table_rows * row, self.bags * self.lookups * _INDEX_BYTES, self.bags * row]

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
            index = places[1] + (bag[:, None] * self.lookups + lookup) * _INDEX_BYTES
            row = places[0] + rows[bag][:, :, None] * row_bytes + begins
            total = places[2] + bag[:, None] * row_bytes + begins
            step = lookup * (1 + parts)
            return joined([
                spans(place[:, None], warp[:, None], step, index, _INDEX_BYTES),
                spans(place[:, None, None], warp[:, None, None], step[:, None] + 1 + part, row, size),
                spans(place[:, None], warp[:, None], last + part, total, size),
            ])  # fmt: skip

        yield Launch(-(-self.bags // self.warps), touched, self.warps * (last + parts))
