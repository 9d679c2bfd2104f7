"""Round robin over channels: everyone in turn."""

from __future__ import annotations

import numpy as np

from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import next_candidate
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView

LAST = 0
"""Memory: the channel that was served last, -1 at first."""


class ChannelRoundRobin(ByChannel):
    """Take the first candidate behind the channel that was served last, cyclically; so there are no ties.

    A channel whose group does not fit, or is not of the most urgent rank, is passed over and loses its turn.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> rounds = ChannelRoundRobin().rounds(channels=4)
    >>> rounds.pick(0, 2, 3), rounds.pick(0, 1, 3), rounds.pick(0, 1, 3), rounds.pick(0, 1, 3)
    (0, 1, 3, 0)
    """

    @staticmethod
    def answer(see: SelectionView) -> int:
        chosen = next_candidate(
            see.memory[LAST],
            see.count,
            see.channel,
            see.rank,
            see.fits,
            rank_limit(see.count, see.rank, see.fits, see.levers),
        )
        if chosen != NOBODY:
            see.memory[LAST] = see.channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which nobody was served yet: int64[1]."""
        return np.array([-1])
