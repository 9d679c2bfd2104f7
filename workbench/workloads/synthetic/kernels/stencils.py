"""The grid that stencils update: rows of elements, planes of rows, and the workgroups that cover it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans


class GridStencil(PageKernel):
    """The base of stencils: each interior point is loaded with its neighbours, in this order, and stored elsewhere.

    A workgroup covers warp_size points along x and `rows` rows of a plane, a warp a row; workgroups are numbered along
    x, then y, then z. The border is read and never written.
    """

    width: int = lever(1024, least=3, most=1 << 20, scale="log", unit="points", description="along x")
    height: int = lever(1024, least=3, most=1 << 20, scale="log", unit="points", description="along y")
    rows: int = lever(8, least=1, most=32, unit="warps", description="rows that a workgroup covers")

    def planes(self) -> int:
        """Return the points along z."""
        raise NotImplementedError

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        """Return what is loaded for a point, as steps along z, y and x from it."""
        raise NotImplementedError

    def array_bytes(self) -> list[int]:
        """Return the bytes of the grid that is read, and of the one that is written."""
        return [self.width * self.height * self.planes() * self.element_bytes] * 2

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        across, down = -(-self.width // self.warp_size), -(-self.height // self.rows)

        def touched(workgroup: np.ndarray) -> Spans:
            z, rest = workgroup // (across * down), workgroup % (across * down)
            y = (rest // across * self.rows)[:, None] + np.arange(self.rows)
            x = rest % across * self.warp_size
            steps = [*((places[0], by) for by in self.neighbours()), (places[1], (0, 0, 0))]
            return joined([self._one(base, by, z, y, x, step) for step, (base, by) in enumerate(steps)])

        yield Launch(across * down * self.planes(), touched, self.rows * (len(self.neighbours()) + 1))

    def _one(
        self, base: int, by: tuple[int, int, int], z: np.ndarray, y: np.ndarray, x: np.ndarray, step: int
    ) -> Spans:
        """Return one instruction of every warp: its interior points, all moved by the same steps."""
        first, end = np.maximum(x, 1), np.minimum(x + self.warp_size, self.width - 1)
        inside = (y > 0) & (y < self.height - 1)
        if self.planes() > 1:
            inside &= ((z > 0) & (z < self.planes() - 1))[:, None]
        point = ((z + by[0])[:, None] * self.height + y + by[1]) * self.width + (first + by[2])[:, None]
        active = np.where(inside, np.maximum(end - first, 0)[:, None], 0)
        place, warp = np.arange(len(z))[:, None], np.arange(self.rows)
        return spans(place, warp, step, base + point * self.element_bytes, active * self.element_bytes)
