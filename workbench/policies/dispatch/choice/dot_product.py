"""Dot product: the module that has most of what the group wants."""

from __future__ import annotations

from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class DotProduct(Choice):
    """Take the module whose free shares point the way of the group's demand; ties as the engine breaks them.

    The score is the sum over the resources of demand share x free share, shares being of an empty module: a group that
    wants registers goes where registers are free, whatever is left of the rest.

    References
    ----------
    spec 3, section 7. Panigrahy, Talwar, Uyeda, Wieder, "Heuristics for Vector Bin Packing", Microsoft Research, 2011;
    Grandl et al., "Multi-Resource Packing for Cluster Schedulers", SIGCOMM 2014, which calls it alignment.

    Examples
    --------
    >>> DotProduct().choose([(90, 2), (50, 8)], demand=(10, 4), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        resources = see.totals.size
        for k in range(see.count):
            score = 0.0
            for r in range(resources):
                score += (see.demand[r] / see.totals[r]) * (see.free[see.modules[k] * resources + r] / see.totals[r])
            see.scores[k] = score

    def needs_totals(self) -> bool:
        return True
