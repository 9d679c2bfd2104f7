"""A stencil of five points on a plane."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.stencils import GridStencil


class StencilPlane(GridStencil, Generator):
    """The 2-D stencil: each point with its neighbours north, south, west and east.

    References
    ----------
    Five-point Jacobi iteration for Poisson's equation on a plane (one launch an iteration; `repeats` gives more).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> from workbench.streams import Streams
    >>> kernel = StencilPlane(width=64, height=8)
    >>> (block,) = kernel.accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 2 workgroups of 6 interior rows, 6 instructions each
    (72, [0, 1])
    """

    def planes(self) -> int:
        return 1

    def neighbours(self) -> Sequence[tuple[int, int, int]]:
        return (0, 0, 0), (0, -1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1)
