"""Same channel: stay with the one that was served last; how GPGPU-Sim stays with its kernel."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.selection.candidates import ANY_RANK, next_candidate, seek
from workbench.policies.dispatch.selection.question import NOBODY, Selection

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

    blocks: bool = lever(False, says="whether nobody else is served while its group does not fit")

    def answer(cycle, count, channel, priority, rank, fits, waited, waves, params, memory):  # type: ignore[no-untyped-def]
        at = seek(0, memory[LAST], count, channel)
        waits = at < count and channel[at] == memory[LAST]
        if waits and (fits[at] or params[BLOCKS]):
            return at if fits[at] else NOBODY
        chosen = next_candidate(memory[LAST], count, channel, rank, fits, ANY_RANK)
        if chosen != NOBODY:
            memory[LAST] = channel[chosen]
        return chosen

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Nobody was served yet: int64[1]."""
        return np.array([-1])

    def work_conserving(self) -> bool:
        """Unless it blocks."""
        return not self.blocks
