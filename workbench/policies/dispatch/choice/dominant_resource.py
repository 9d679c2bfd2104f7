"""Dominant resource: the module whose tightest resource is left widest."""

from __future__ import annotations

from workbench.policies.dispatch.choice.packing import share_left
from workbench.policies.dispatch.choice.question import Choice
from workbench.policies.dispatch.choice.view import ChoiceView


class DominantResource(Choice):
    """Take the module whose scarcest resource is left least scarce by the group; ties as the engine breaks them.

    Scarcity is told by the share that would be left, over what an empty module has; the smallest share is the score.

    References
    ----------
    spec 3, section 7: dominant-resource fit. The dominant share is that of Ghodsi et al., "Dominant Resource
    Fairness", NSDI 2011, here of a module instead of a user.

    Examples
    --------
    >>> DominantResource().choose([(90, 2), (50, 5), (60, 4)], demand=(10, 1), totals=(100, 10))
    1
    """

    @staticmethod
    def answer(see: ChoiceView) -> None:
        for k in range(see.count):
            scarcest = share_left(see.modules[k], 0, see.demand, see.free, see.totals)
            for resource in range(1, see.totals.size):
                scarcest = min(scarcest, share_left(see.modules[k], resource, see.demand, see.free, see.totals))
            see.scores[k] = scarcest

    def needs_totals(self) -> bool:
        return True
