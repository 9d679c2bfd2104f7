"""Largest bandwidth: the document's first policy."""

from __future__ import annotations

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.shapes import Shape, shaped
from workbench.policies.pool.target.view import TargetView


class MaxBandwidth(Target):
    """Take the card with the fastest path to the borrower; ties as the engine breaks them.

    In a sum it is the weight w2, an increasing function of the bandwidth.

    References
    ----------
    spec 5, R18, R20, V12.

    Examples
    --------
    >>> cards = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16), ("cpu0", 52, 16)]
    >>> MaxBandwidth().choose(20, cards), MaxBandwidth().choose(20, cards, tie="most_free")
    ('gpu3', 'gpu6')
    """

    shape: Shape = lever("linear", description="the increasing function of the bandwidth")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = shaped(see.gbps[see.cards[k]], see.levers.shape)
