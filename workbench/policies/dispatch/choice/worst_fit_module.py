"""Worst fit over the modules: the emptiest."""

from __future__ import annotations

from workbench.policies.dispatch.choice.packing import squared_length
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class WorstFitModule(Choice):
    """Take the module in which the group leaves the longest vector of residual shares; ties as the engine breaks them.

    The opposite of `best_fit_module`. Most residual, normalised and without weights, is worst fit by the sum of the
    shares instead of their length.

    References
    ----------
    spec 3, section 7 and H3.18.

    Examples
    --------
    >>> WorstFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    0
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = squared_length(see.modules[k], see.demand, see.free, see.totals)

    def needs_totals(self) -> bool:
        return True
