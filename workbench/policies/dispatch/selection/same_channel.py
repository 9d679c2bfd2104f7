"""Same channel: stay with the one that was served last; how GPGPU-Sim stays with its kernel."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import ANY_RANK, next_candidate, seek
from workbench.policies.dispatch.selection.question import NOBODY, Selection
from workbench.policies.dispatch.selection.view import SelectionView

BLOCKS = 0
LAST = 0
"""Memory: the channel that was served last, -1 at first."""


class SameChannel(Selection):
    """Stay with the channel that was served last while it has a waiting group; then the next one, cyclically.

    When its group does not fit, the next channel whose group does takes over, or, with `blocks`, nobody is served until
    it fits. Ranks count for nothing, and cyclic order leaves no ties.

    References
    ----------
    spec 3, section 7 (as found in GPGPU-Sim); exhaustive service, as polling systems call it.

    Examples
    --------
    >>> from workbench.policies.dispatch.selection import Head
    >>> rounds = SameChannel(blocks=True).rounds(channels=3)
    >>> rounds.pick(0, 1), rounds.pick(0, 1), rounds.pick(1, 2)
    (0, 0, 1)
    >>> rounds.pick(Head(1, fits=False), Head(2)) is None
    True
    """

    blocks: bool = lever(False, description="whether nobody else is served while its group does not fit")

    @staticmethod
    def answer(see: SelectionView) -> int:
        at = seek(0, see.memory[LAST], see.count, see.channel)
        waits = at < see.count and see.channel[at] == see.memory[LAST]
        if waits and (see.fits[at] or see.levers.blocks):
            return at if see.fits[at] else NOBODY
        chosen = next_candidate(see.memory[LAST], see.count, see.channel, see.rank, see.fits, ANY_RANK)
        if chosen != NOBODY:
            see.memory[LAST] = see.channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return a memory in which nobody was served yet: int64[1]."""
        return np.array([-1])

    def work_conserving(self) -> bool:
        """Return True unless it blocks."""
        return not self.blocks
