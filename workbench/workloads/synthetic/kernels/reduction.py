"""The sum of a long array."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.levers import lever
from workbench.streams import Streams
from workbench.workloads.synthetic.generator import Generator
from workbench.workloads.synthetic.kernels.page_kernel import Launch, PageKernel, Touched
from workbench.workloads.synthetic.kernels.spans import Spans, joined, spans


class Reduction(PageKernel, Generator):
    """Each workgroup sums a tile of an array and stores one partial sum; launches go on until one sum is left.

    A thread loads `items` elements, a workgroup's width apart; the partial sums of a launch are the array of the next
    one, behind it. Within a workgroup sums are added in shared memory, which has no pages; its first warp stores.

    References
    ----------
    M. Harris, Optimizing Parallel Reduction in CUDA, NVIDIA (several elements a thread, a launch a level).

    Examples
    --------
    >>> from workbench.machine import TranslationMachine
    >>> kernel = Reduction(elements=4096, threads=256, items=4)
    >>> blocks = list(kernel.accesses(TranslationMachine(cores=2), Streams(0)))
    >>> [len(block.page) for block in blocks]  # 4 workgroups of 8 warps load four times and store once; then one does
    [132, 2]
    """

    elements: int = lever(1 << 20, least=2, most=1 << 30, scale="log", unit="elements", description="of the array")
    threads: int = lever(256, least=32, most=1024, scale="power_of_two", unit="threads", description="of a workgroup")
    items: int = lever(8, least=1, most=1024, unit="elements", description="that a thread loads")

    def sizes(self) -> list[int]:
        """Return the elements of each array: the first, and the partial sums of each launch."""
        result = [self.elements]
        while result[-1] > 1:
            result.append(-(-result[-1] // (self.threads * self.items)))
        return result

    def array_bytes(self) -> list[int]:
        """Return the bytes of the array and the partial sums of each launch."""
        return [size * self.element_bytes for size in self.sizes()]

    def launches(self, places: list[int], streams: Streams) -> Iterator[Launch]:
        sizes = self.sizes()
        warps = max(self.threads // self.warp_size, 1)
        for level in range(len(sizes) - 1):
            yield Launch(sizes[level + 1], self._touching(sizes[level], *places[level : level + 2]), warps * self.items)

    def _touching(self, elements: int, loaded: int, stored: int) -> Touched:
        width, warps = self.threads, max(self.threads // self.warp_size, 1)
        lanes = min(self.warp_size, self.threads)

        def touched(workgroup: np.ndarray) -> Spans:
            place, warp, item = (
                np.arange(len(workgroup))[:, None, None],
                np.arange(warps)[:, None],
                np.arange(self.items),
            )
            lane = (workgroup[:, None, None] * self.items + item) * width + warp * self.warp_size
            active = np.clip(elements - lane, 0, lanes) * self.element_bytes
            loads = spans(place, warp, item, loaded + lane * self.element_bytes, active)
            store = spans(place.ravel(), 0, self.items, stored + workgroup * self.element_bytes, self.element_bytes)
            return joined([loads, store])

        return touched
