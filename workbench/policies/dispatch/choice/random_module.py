"""Random module: any that has room."""

from __future__ import annotations

import numpy as np

from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView
from workbench.streams import Streams
from workbench.structures.rng import below

GENERATOR = 0
"""Memory: the state of the random generator, never 0."""


class RandomModule(Choice):
    """Take any module with room, each as likely as another: it scores 1 and all others 0; there are no ties.

    The numbers come from the policy's own generator, seeded from the run's seed; every question draws one.

    References
    ----------
    spec 3, section 7.

    Examples
    --------
    >>> RandomModule().choose([(5,), (5,), (5,)], modules=(1, 2)) in (1, 2)
    True
    """

    draws = True

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = 0.0
        see.scores[below(see.memory, GENERATOR, see.count)] = 1.0

    def start_memory(self, modules: int, seed: int) -> np.ndarray:
        """Return the generator's state, drawn from the stream `random_module` of the seed: int64[1]."""
        return np.array([max(Streams(seed).integer("random_module"), 1)])
