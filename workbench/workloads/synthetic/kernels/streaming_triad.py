"""A triad of long arrays: a[i] = b[i] + s c[i]."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel
from workbench.workloads.synthetic.kernels.spans import Spans, spans


class StreamingTriad(PageKernel, Generator):
    """Thread i loads b[i] and c[i] and stores a[i]: no page comes again once all cores are past it.

    References
    ----------
    J. D. McCalpin, STREAM: Sustainable Memory Bandwidth in High Performance Computers (triad). Thread i of the grid has
    element i; a warp's instruction touches warp_size elements in a row.

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> (block,) = StreamingTriad(elements=2048, threads=1024).accesses(TranslationMachine(cores=2), Streams(0))
    >>> len(block.page), sorted(set(block.page.tolist()))  # 64 warps, three instructions each
    (192, [0, 1, 2, 3, 4, 5])
    """

    elements: int = lever(1 << 20, least=1, most=1 << 30, scale="log", unit="elements", description="of each array")
    threads: int = lever(256, least=32, most=1024, scale="power_of_two", unit="threads", description="of a workgroup")

    def array_bytes(self) -> list[int]:
        """Return the bytes of a, b and c."""
        return [self.elements * self.element_bytes] * 3

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        warps = max(self.threads // self.warp_size, 1)

        def touched(workgroup: np.ndarray) -> Spans:
            lane = workgroup[:, None, None] * self.threads + np.arange(warps)[:, None] * self.warp_size
            active = np.clip(self.elements - lane, 0, min(self.warp_size, self.threads))
            begins = np.array([places[1], places[2], places[0]])
            return spans(
                np.arange(len(workgroup))[:, None, None],
                np.arange(warps)[:, None],
                np.arange(3),
                begins + lane * self.element_bytes,
                active * self.element_bytes,
            )

        yield Launch(-(-self.elements // self.threads), touched, 3 * warps)
