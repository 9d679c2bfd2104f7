"""Exact fit: no block of another size."""

from __future__ import annotations

from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.view import FitView
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

    @staticmethod
    def answer(see: FitView) -> int:
        block = smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)
        return block if block != NONE and see.nodes[block * FIELDS + SIZE] == see.size else NONE
