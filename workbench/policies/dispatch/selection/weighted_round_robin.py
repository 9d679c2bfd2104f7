"""Weighted round robin: everyone in turn, some with more groups a turn."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.one_each import lever_path, refuse_wrong_count
from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import candidate_of, next_candidate
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView

FIRST_WEIGHT = 1
LAST, LEFT = 0, 1
"""Memory: the channel whose turn it is, -1 at first, and the groups that it may still send."""


class WeightedRoundRobin(ByChannel):
    """Serve channels in cyclic order, each with as many groups a turn as its weight says; so there are no ties.

    A turn ends early when the channel has no candidate any more; what was left of it is lost.

    References
    ----------
    spec 3, section 7; M. Katevenis, S. Sidiropoulos, C. Courcoubetis, "Weighted Round-Robin Cell Multiplexing in a
    General-Purpose ATM Switch Chip", IEEE Journal on Selected Areas in Communications 9(8), 1991.

    Examples
    --------
    >>> rounds = WeightedRoundRobin(weights=(3, 1)).rounds(channels=2)
    >>> [rounds.pick(0, 1) for _ in range(8)]
    [0, 0, 0, 1, 0, 0, 0, 1]
    """

    weights: tuple[int, ...] = lever(
        (), least=1, most=1 << 20, unit="groups", description="how many groups a turn each channel has; none = one each"
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, left = rank_limit(see.count, see.rank, see.fits, see.levers), see.memory[LEFT]
        chosen = candidate_of(see.memory[LAST], see.count, see.channel, see.rank, see.fits, limit) if left else NOBODY
        if chosen == NOBODY:
            chosen = next_candidate(see.memory[LAST], see.count, see.channel, see.rank, see.fits, limit)
            left = int(see.levers[FIRST_WEIGHT + see.channel[chosen]]) if see.levers.size > FIRST_WEIGHT else 1
        if chosen != NOBODY:
            see.memory[LAST], see.memory[LEFT] = see.channel[chosen], left - 1
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which it is nobody's turn yet: int64[2]."""
        return np.array([-1, 0])

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of weights that is not that of the channels."""
        refuse_wrong_count(lever_path(path, self.name, "weights"), self.weights, channels, "channels", where)

    def parameters(self) -> np.ndarray:
        """Return whom it chooses among, and the weights: float64[1 + weights]."""
        return np.array([*self.numbers(), *self.weights], np.float64)
