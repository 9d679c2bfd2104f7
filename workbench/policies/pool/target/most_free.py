"""Most free memory: worst fit over cards."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.shapes import Shape, shaped
from workbench.policies.pool.target.view import TargetView


class MostFree(Target):
    """Take the card with the most free memory, cached bytes included; ties as the engine breaks them.

    In a sum it is the weight w1, an increasing function of the free memory.

    References
    ----------
    spec 5, R20, E1, section 7.

    Examples
    --------
    >>> MostFree().choose(20, [("gpu3", 40, 150), ("gpu5", 200, 16)])
    'gpu5'
    """

    shape: Shape = lever("linear", description="the increasing function of the free memory")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = shaped(float(see.free[see.cards[k]]), see.levers.shape)
