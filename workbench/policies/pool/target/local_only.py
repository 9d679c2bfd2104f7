"""Local only: no card lends; what there was before the document."""

from __future__ import annotations

import math

from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class LocalOnly(Target):
    """Refuse every other card: a request fails when the own card is full. No card is taken, so there are no ties.

    References
    ----------
    spec 5, section 7 (the document's "before"), H5.1, H5.2.

    Examples
    --------
    >>> LocalOnly().choose(20, [("gpu1", 90, 24)]) is None
    True
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -math.inf
