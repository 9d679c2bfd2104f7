"""Exact fit: no block of another size."""

from __future__ import annotations

from typing import Any

from workbench.policies.pool.fit.question import CacheFit
from workbench.structures.size_index import FIELDS, NONE, SIZE, smallest_at_least


class ExactFit(CacheFit):
    """Take a cached block of exactly the size that is needed; the lowest address wins a tie.

    With `cache: size_classes` these are the free lists of a slab allocator: one a class, never split.

    References
    ----------
    spec 5, R11 (an exact block is used as it is), section 7 (size classes).

    Examples
    --------
    >>> ExactFit().take([32, 96, 64], 64), ExactFit().take([32, 96], 64)
    (2, None)
    """

    def answer(size: Any, pool: int, first: int, roots: Any, filled: Any, nodes: Any, params: Any, memory: Any) -> int:
        block = smallest_at_least(roots, filled, nodes, pool, size)
        return block if block != NONE and nodes[block * FIELDS + SIZE] == size else NONE
