"""Per thread: everybody asks for himself; the baseline of the source document."""

from __future__ import annotations

from typing import Literal

import numpy as np

from workbench.levers import lever
from workbench.policies.malloc.serve.adjusting import MOST_ALIGN, adjusted, next_power
from workbench.policies.malloc.serve.question import Serve
from workbench.policies.malloc.serve.view import ServeView

MIN_ALLOC, ALIGN, ZERO = range(3)
NULL = 1


class PerThread(Serve):
    """Every active lane makes a heap request of its own; between lanes of one warp the lower one asks first in a tie.

    References
    ----------
    spec 2, R21 and Fig. 1: each thread loops on the try-lock, allocates for itself and releases.

    Examples
    --------
    >>> PerThread().offsets([2, 9])
    [(4, [0]), (12, [0])]
    >>> PerThread(min_alloc=1).offsets([2, 9])
    [(2, [0]), (9, [0])]
    """

    min_alloc: int = lever(4, least=1, most=1 << 20, unit="bytes", description="smaller requests are raised to this")
    align: int = lever(
        0,
        least=0,
        most=MOST_ALIGN,
        scale="power_of_two",
        unit="bytes",
        description="sizes are rounded up to this power of two; 0: to min_alloc's",
    )
    zero_policy: Literal["expand", "null"] = lever("expand", description="what 0 bytes get: the minimum, or nothing")
    header_bytes: int = lever(
        0, least=0, most=4096, unit="bytes", description="what every allocation holds in front of it"
    )

    @staticmethod
    def answer(see: ServeView) -> int:
        parts = 0
        for k in range(see.lanes.size):
            see.offset[k] = see.size[k] = 0
            if see.levers[ZERO] == NULL and see.asked[k] == 0:
                see.part[k] = -1
                continue
            see.part[k], see.leader[parts] = parts, k
            see.size[k] = adjusted(see.asked[k], int(see.levers[MIN_ALLOC]), int(see.levers[ALIGN]))
            parts += 1
        return parts

    def parameters(self) -> np.ndarray:
        """Return what the answer sees: min_alloc, the alignment in bytes, zero_policy."""
        zero = self.levers["zero_policy"].number(self.zero_policy)
        return np.array([self.min_alloc, self.align or next_power(self.min_alloc), zero], float)

    def block_header(self) -> int:
        return self.header_bytes
