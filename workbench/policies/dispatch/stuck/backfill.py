"""Backfill: what stands behind a stuck head may pass it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.stuck.never_split import NeverSplit
from workbench.policies.dispatch.stuck.question import Stuck, SubPriority


class Backfill(Stuck):
    """Let one of the next few groups of a channel go while its head fits nowhere: the first in order that fits.

    Nothing is reserved for the head, which may be passed for ever; the order inside a channel is then kept no more
    (R2). All else is as `upstream` says: `Backfill(upstream=SplitWhenStuck())` also splits. Queue order leaves no ties.

    References
    ----------
    spec 3, section 7: competes with splitting; D. Lifka, "The ANL/IBM SP Scheduling System", Job Scheduling Strategies
    for Parallel Processing, 1995, whose EASY scheduler reserves for the head.

    Examples
    --------
    >>> Backfill(depth=8).look_ahead()
    8
    >>> from workbench.policies.dispatch import SplitWhenStuck
    >>> both = Backfill(upstream=SplitWhenStuck(threshold=16))
    >>> both.parts(waves=3), both.patience()
    ([1, 1, 1], 16)
    """

    depth: int = lever(
        4, least=1, most=4096, unit="groups", description="how many groups behind a channel's head may pass it"
    )
    upstream: Stuck = lever(NeverSplit(), description="what becomes of a head that stays stuck all the same")

    def function(self) -> Callable[..., int]:
        """Return the answer of upstream."""
        return self.upstream.function()

    def speakers(self) -> Sequence[Stuck]:
        """Return upstream, whose function answers."""
        return (self.upstream,)

    def lever_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return those of the upstream, whose answer it is."""
        return self.upstream.lever_kinds()

    def parameters(self) -> np.ndarray:
        """Return the levers of upstream, whose answer it is."""
        return self.upstream.parameters()

    def patience(self) -> int:
        """Return the patience of upstream."""
        return self.upstream.patience()

    def look_ahead(self) -> int:
        """Return the depth, or what upstream looks ahead if that is more."""
        return max(self.depth, self.upstream.look_ahead())

    def sub_priority(self) -> SubPriority:
        """Return the priority that upstream gives a sub-group."""
        return self.upstream.sub_priority()

    def divides_shared(self) -> bool:
        """Return what upstream says."""
        return self.upstream.divides_shared()
