"""Lottery: shares by chance, in proportion to tickets."""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.levers import lever
from workbench.policies.dispatch.one_each import lever_path, refuse_wrong_count
from workbench.policies.dispatch.selection.by_channel import ByChannel, rank_limit
from workbench.policies.dispatch.selection.candidates import is_candidate
from workbench.policies.dispatch.selection.question import NOBODY
from workbench.policies.dispatch.selection.view import SelectionView
from workbench.streams import Streams
from workbench.structures.rng import below

FIRST_TICKETS = 1
GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


@kernel
def tickets_of(channel: int, params: np.ndarray) -> int:
    """Return the tickets of a channel."""
    return int(params[FIRST_TICKETS + channel]) if params.size > FIRST_TICKETS else 1


class Lottery(ByChannel):
    """Draw one of all candidates' tickets and take its channel; so there are no ties.

    Only candidates' tickets are in the draw, so each has a share in proportion to its tickets of what it competes for.

    References
    ----------
    spec 3, section 7; C. Waldspurger, W. Weihl, "Lottery Scheduling: Flexible Proportional-Share Resource Management",
    Operating Systems Design and Implementation, 1994.

    Examples
    --------
    >>> rounds = Lottery(tickets=(1, 3)).rounds(channels=2)
    >>> picks = [rounds.pick(0, 1) for _ in range(400)]
    >>> 250 < picks.count(1) < 350
    True
    """

    draws = True
    tickets: tuple[int, ...] = lever(
        (), least=1, most=1 << 20, unit="tickets", description="how many tickets each channel has; none = one each"
    )

    @staticmethod
    def answer(see: SelectionView) -> int:
        limit, total = rank_limit(see.count, see.rank, see.fits, see.levers), 0
        for k in range(see.count):
            if is_candidate(k, see.rank, see.fits, limit):
                total += tickets_of(see.channel[k], see.levers)
        drawn = below(see.memory, GENERATOR, total) if total else 0
        for k in range(see.count):
            if is_candidate(k, see.rank, see.fits, limit):
                drawn -= tickets_of(see.channel[k], see.levers)
                if drawn < 0:
                    return k
        return NOBODY

    def start_memory(self, channels: int, levels: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `lottery` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("lottery"), 1)])

    def check_run(self, channels: int, levels: int, path: str = "", where: str = "") -> None:
        """Refuse a number of tickets that is not that of the channels."""
        refuse_wrong_count(lever_path(path, self.name, "tickets"), self.tickets, channels, "channels", where)

    def parameters(self) -> np.ndarray:
        """Return whom it chooses among, and the tickets: float64[1 + tickets]."""
        return np.array([*self.numbers(), *self.tickets], np.float64)
