"""A matrix is transposed, tile by tile."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans


class Transpose(PageKernel, Generator):
    """A square matrix, row after row; a workgroup reads a tile and writes it mirrored, a row each instruction.

    A tile is warp_size on a side and a workgroup has eight warps; warp w has rows w, w + 8, ... of the tile. With
    `through_shared` the tile is turned in shared memory and rows are written as they were read; without, each lane
    writes to a row of its own, which are as many pages as lanes once a row of the matrix has a page.

    References
    ----------
    G. Ruetsch and P. Micikevicius, Optimizing Matrix Transpose in CUDA, NVIDIA 2009 (transposeNaive,
    transposeCoalesced).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> def pages(**levers):
    ...     blocks = Transpose(side=64, **levers).accesses(TranslationMachine(cores=4), Streams(0))
    ...     return sum(len(block.page) for block in blocks)
    >>> pages(), pages(through_shared=False), pages(through_shared=False, element_bytes=16)
    (256, 384, 1152)
    """

    side: int = lever(
        1024, least=1, most=1 << 18, scale="log", unit="elements", description="rows and columns of the matrix"
    )
    through_shared: bool = lever(
        True, description="whether tiles are turned in shared memory, so that writes are coalesced"
    )

    def array_bytes(self) -> list[int]:
        """Return the bytes of what is read, and of what is written."""
        return [self.side * self.side * self.element_bytes] * 2

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        tiles = -(-self.side // self.warp_size)

        def touched(workgroup: np.ndarray) -> Spans:
            tile_y, tile_x = workgroup // tiles, workgroup % tiles
            reads = self._rows(workgroup, tile_y, tile_x, places[0], 0)
            if self.through_shared:
                return joined([reads, self._rows(workgroup, tile_x, tile_y, places[1], 1)])
            return joined([reads, self._columns(workgroup, tile_x, tile_y, places[1])])

        yield Launch(tiles * tiles, touched, self.warp_size * (2 if self.through_shared else 1 + self.warp_size))

    def _rows(self, workgroup: np.ndarray, tile_y: np.ndarray, tile_x: np.ndarray, base: int, kind: int) -> Spans:
        """Return a row of a tile each instruction."""
        tile = self.warp_size
        row = np.arange(tile)
        y, x = tile_y[:, None] * tile + row, tile_x[:, None] * tile
        active = np.where(y < self.side, np.clip(self.side - x, 0, tile), 0)
        first = base + (y * self.side + x) * self.element_bytes
        return spans(_places(workgroup), row % 8, self._step(row, kind), first, active * self.element_bytes)

    def _columns(self, workgroup: np.ndarray, tile_y: np.ndarray, tile_x: np.ndarray, base: int) -> Spans:
        """Return a column of a tile each instruction: row r of what was read goes to column r, a lane to each row."""
        tile = self.warp_size
        row, lane = np.arange(tile)[:, None], np.arange(tile)
        y, x = tile_y[:, None, None] * tile + lane, tile_x[:, None, None] * tile + row
        first = base + (y * self.side + x) * self.element_bytes
        active = ((y < self.side) & (x < self.side)) * self.element_bytes
        return spans(_places(workgroup)[:, :, None], row % 8, self._step(row, 1), first, active)

    def _step(self, row: np.ndarray, kind: int) -> np.ndarray:
        """Return the steps: all reads of a warp come before its writes where they go through shared memory, else they
        take turns."""
        turn = row // 8
        return turn + kind * -(-self.warp_size // 8) if self.through_shared else turn * 2 + kind


def _places(workgroup: np.ndarray) -> np.ndarray:
    return np.arange(len(workgroup))[:, None]
