"""A stencil of seven points in a volume."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.levers import lever
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.stencils import GridStencil


class StencilVolume(GridStencil, Generator):
    """The 3-D stencil: each point with its neighbours below, above, north, south, west and east.

    References
    ----------
    Seven-point Jacobi iteration for Poisson's equation in a volume; a plane is far apart from the next one, so a point
    has pages of three planes.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> kernel = StencilVolume(width=32, height=32, depth=3)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 30 interior rows of one plane, 8 instructions each
    (240, [0, 1, 2, 4])
    """

    width: int = lever(128, least=3, most=1 << 20, scale="log", unit="points", description="along x")
    height: int = lever(128, least=3, most=1 << 20, scale="log", unit="points", description="along y")
    depth: int = lever(128, least=3, most=1 << 16, scale="log", unit="points", description="along z")

    def planes(self) -> int:
        return self.depth

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        return (0, 0, 0), (-1, 0, 0), (1, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)
