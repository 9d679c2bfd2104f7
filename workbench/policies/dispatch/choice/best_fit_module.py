"""Best fit over the modules: the fullest that has room."""

from __future__ import annotations

from workbench.policies.dispatch.choice.packing import squared_length
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class BestFitModule(Choice):
    """Take the module in which the group leaves the shortest vector of residual shares; ties as the engine breaks them.

    A share is what would be left of a resource over what an empty module has; the length is Euclidean. Modules fill
    one after another, and empty ones are kept for large groups.

    References
    ----------
    spec 3, section 7 and H3.18. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft
    Research, 2011: the norm-based greedy rule.

    Examples
    --------
    >>> BestFitModule().choose([(90, 9), (50, 5), (60, 9)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            see.scores[k] = -squared_length(see.modules[k], see.demand, see.free, see.totals)

    def needs_totals(self) -> bool:
        return True
