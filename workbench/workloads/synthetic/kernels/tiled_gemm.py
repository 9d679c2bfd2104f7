"""A product of matrices, tile by tile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans


class TiledGemm(PageKernel, Generator):
    """C = A B, all row after row; a workgroup of tile x tile threads has a tile of C and walks along k.

    In step k thread (y, x) loads A[row, k tile + x] and B[k tile + y, column] into shared memory; at the end it stores
    C[row, column]. Workgroups of a row of tiles read the same rows of A, those of a column the same columns of B.

    References
    ----------
    CUDA C++ Programming Guide, section 3.2.4 Shared Memory (tiled matrix multiplication); threads of a workgroup are
    numbered with x fastest, workgroups of the grid likewise.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = TiledGemm(m=32, n=64, k=32, tile=16)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=4), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 8 workgroups of 8 warps: 2 steps of 2 loads, a store
    (320, [0, 1, 2, 3, 4])
    """

    m: int = lever(512, least=1, most=1 << 16, scale="log", unit="rows", description="rows of A and C")
    n: int = lever(512, least=1, most=1 << 16, scale="log", unit="columns", description="columns of B and C")
    k: int = lever(512, least=1, most=1 << 16, scale="log", unit="elements", description="columns of A, rows of B")
    tile: int = lever(
        32, least=8, most=32, scale="power_of_two", unit="threads", description="rows and columns of a tile"
    )

    def array_bytes(self) -> list[int]:
        """Return the bytes of A, B and C."""
        return [rows * columns * self.element_bytes for rows, columns in self._shapes()]

    def _shapes(self) -> list[tuple[int, int]]:
        return [(self.m, self.k), (self.k, self.n), (self.m, self.n)]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        down, across, steps = (-(-size // self.tile) for size in (self.m, self.n, self.k))

        def touched(workgroup: np.ndarray) -> Spans:
            place = np.arange(len(workgroup))[:, None, None, None]
            tile_y, tile_x = (workgroup // across)[:, None, None, None], (workgroup % across)[:, None, None, None]
            along = np.arange(steps)[:, None, None]
            loads_a = self._tile(places, 0, place, tile_y, along, along * 2)
            loads_b = self._tile(places, 1, place, along, tile_x, along * 2 + 1)
            return joined([loads_a, loads_b, self._tile(places, 2, place, tile_y, tile_x, steps * 2)])

        yield Launch(down * across, touched, self.tile * (2 * steps + 1))

    def _tile(self, places: list[int], which: int, place: np.ndarray, tile_y: Any, tile_x: Any, step: Any) -> Spans:
        """Return all of a tile of a matrix, an instruction of each warp; what a warp has of a row of it is a span."""
        rows, columns = self._shapes()[which]
        width = min(self.tile, self.warp_size)
        line, piece = np.arange(self.tile)[:, None], np.arange(self.tile // width)
        y, x = tile_y * self.tile + line, tile_x * self.tile + piece * width
        first = places[which] + (y * columns + x) * self.element_bytes
        active = np.where(y < rows, np.clip(columns - x, 0, width), 0) * self.element_bytes
        return spans(place, (line * self.tile + piece * width) // self.warp_size, step, first, active)
