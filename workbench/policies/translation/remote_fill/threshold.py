"""Threshold: a copy is kept where the two cores share much."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.translation.remote_fill.question import RemoteFill
from workbench.policies.translation.remote_fill.view import RemoteFillView


class Threshold(RemoteFill):
    """Keep a copy if the asker shares so many entries, or more, with the peer that answered; equal is enough.

    References
    ----------
    spec 4, section 2, `remote_fill`: the fill threshold applied to the answering peer.

    Examples
    --------
    >>> Threshold(threshold=3).copies(shared=2), Threshold(threshold=3).copies(shared=3)
    (False, True)
    """

    threshold: int = lever(
        3, least=1, most=1 << 16, unit="entries", description="shared entries from which a copy is kept"
    )

    @staticmethod
    def answer(see: RemoteFillView) -> int:
        return 1 if see.pairs[see.core * see.cores + see.peer] >= see.levers.threshold else 0

    def counts(self) -> bool:
        return True

    def most_threshold(self) -> int:
        return self.threshold
