"""First fit: the lowest address."""

from __future__ import annotations

from typing import Any

from workbench.policies.pool.fit.question import CacheFit
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

    def answer(size: Any, pool: int, first: int, roots: Any, filled: Any, nodes: Any, params: Any, memory: Any) -> int:
        block = first
        while block != NONE:
            if nodes[block * FIELDS + ABOVE] != OUTSIDE and nodes[block * FIELDS + SIZE] >= size:
                return block
            block = nodes[block * FIELDS + AFTER]
        return NONE
