"""Limited fit: best fit that does not waste more than a share."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import FIELDS, NONE, SIZE, smallest_at_least


class LimitedFit(CacheFit):
    """Take the smallest block that is large enough unless it is too large; the lowest address wins a tie.

    For caches that do not split: a block that is much larger would be held by a small request.

    References
    ----------
    spec 5, section 2: another choice of `cache_fit`.

    Examples
    --------
    >>> LimitedFit(waste=0.25).take([128, 80], 64), LimitedFit(waste=0.125).take([128, 80], 64)
    (1, None)
    """

    waste: float = lever(
        0.25, least=0, most=1000, step=0.05, description="largest excess, as a share of what is needed"
    )

    @staticmethod
    def answer(see: FitView) -> int:
        block = smallest_at_least(see.roots, see.filled, see.nodes, see.pool, see.size)
        if block == NONE or see.nodes[block * FIELDS + SIZE] - see.size > see.levers.waste * see.size:
            return NONE
        return block
