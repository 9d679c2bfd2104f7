"""Best fit: the document's choice among cached blocks."""

from __future__ import annotations

from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import smallest_at_least


class BestFit(CacheFit):
    """Take the smallest cached block that is large enough, one of the exact size first; the lowest address wins a tie.

    The search looks at a tree of a few blocks, so its cost grows with the logarithm of their number.

    References
    ----------
    spec 5, R11, V2, V3, V5.

    Examples
    --------
    >>> BestFit().take([32, 64, 96, 128], 64), BestFit().take([128, 96, 96], 64), BestFit().take([32, 48], 64)
    (1, 1, None)
    """

    @staticmethod
    def answer(see: FitView) -> int:
        return smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)
