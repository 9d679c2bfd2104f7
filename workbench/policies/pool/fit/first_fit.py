"""First fit: the lowest address."""

from __future__ import annotations

from workbench.policies.pool.fit.question import CacheFit
from workbench.policies.pool.fit.view import FitView
from workbench.structures.size_index import ABOVE, AFTER, FIELDS, NONE, OUTSIDE, SIZE


class FirstFit(CacheFit):
    """Take the cached block with the lowest address that is large enough; addresses differ, so there are no ties.

    It walks through the blocks one by one: its cost grows with their number.

    References
    ----------
    spec 5, H5.4: what best fit is compared with.

    Examples
    --------
    >>> FirstFit().take([32, 128, 64], 64)
    1
    """

    @staticmethod
    def answer(see: FitView) -> int:
        block = see.first
        while block != NONE:
            if see.nodes[block * FIELDS + ABOVE] != OUTSIDE and see.nodes[block * FIELDS + SIZE] >= see.size:
                return block
            block = see.nodes[block * FIELDS + AFTER]
        return NONE
