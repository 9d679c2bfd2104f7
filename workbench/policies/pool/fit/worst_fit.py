"""Worst fit: the largest block."""

from __future__ import annotations

from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import FIELDS, NONE, SIZE, largest


class WorstFit(CacheFit):
    """Take the largest cached block, if it is large enough; the lowest address wins a tie.

    References
    ----------
    spec 5, section 2: another choice of `cache_fit`, so that what remains of a split block stays useful.

    Examples
    --------
    >>> WorstFit().take([32, 128, 64, 128], 64), WorstFit().take([32, 48], 64)
    (1, None)
    """

    @staticmethod
    def answer(see: FitView) -> int:
        block = largest(see.roots, see.filled, see.nodes, see.pool)
        return block if block != NONE and see.nodes[block * FIELDS + SIZE] >= see.size else NONE
