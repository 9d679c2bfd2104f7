"""Two choices: the idler of two modules that are drawn at random."""

from __future__ import annotations

import numpy as np

from workbench.policies.dispatch.choice.load import ByLoad, idle_slots
from workbench.policies.dispatch.choice.view import ChoiceView
from workbench.streams import Streams
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class TwoChoices(ByLoad):
    """Draw two of the modules with room and take the one in which fewer waves (or groups) run; ties as the engine.

    Every pair is equally likely. The module that is taken scores 2, the other one 1, or 2 as well at a tie, all others
    0. Nearly as even as looking at all modules, for two looks.

    References
    ----------
    spec 3, section 7. Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing", IEEE TPDS 12(10), 2001.

    Examples
    --------
    >>> TwoChoices().choose([(9, 9, 3, 9, 9), (9, 9, 7, 9, 9)])
    1
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        one = below(see.memory, GENERATOR, see.count)
        if see.count > 1:
            two = below(see.memory, GENERATOR, see.count - 1)
            two += two >= one
            ahead = idle_slots(see.modules[one], see.free, see.totals, see.levers) - idle_slots(
                see.modules[two], see.free, see.totals, see.levers
            )
            see.scores[two] = 2.0 if ahead <= 0.0 else 1.0
            see.scores[one] = 2.0 if ahead >= 0.0 else 1.0
        else:
            see.scores[one] = 2.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `two_choices` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("two_choices"), 1)])
