"""A bandwidth threshold, then the most free memory: the document's second policy."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView

FALLBACKS = 0
"""Memory: how often no candidate met the threshold."""


class BandwidthThenMostFree(Target):
    """Of the cards whose path has at least the threshold take the one with the most free memory; ties as the engine's.

    Where none has it, the fastest path counts, as in `max_bandwidth`, and the event is counted.

    References
    ----------
    spec 5, R19, E10, V9, V10.

    Examples
    --------
    >>> near = [("gpu1", 10, 24), ("gpu3", 40, 150), ("gpu6", 60, 150), ("gpu5", 200, 16)]
    >>> BandwidthThenMostFree(threshold_gbps=48).choose(size=20, cards=near)
    'gpu6'
    >>> BandwidthThenMostFree(threshold_gbps=48).choose(20, [("gpu4", 90, 12), ("gpu5", 30, 16)])
    'gpu5'
    """

    threshold_gbps: float = lever(
        48.0, least=0, most=1e6, unit="GB/s", description="least bandwidth of a path that counts"
    )

    @staticmethod
    def answer(see: TargetView) -> None:
        fastest = 0.0
        for k in range(see.count):
            fastest = max(fastest, see.gbps[see.cards[k]])
        if fastest < see.levers.threshold_gbps:
            see.memory[FALLBACKS] += 1
        for k in range(see.count):
            if fastest < see.levers.threshold_gbps:
                see.scores[k] = see.gbps[see.cards[k]]
            else:
                see.scores[k] = (
                    float(see.free[see.cards[k]]) if see.gbps[see.cards[k]] >= see.levers.threshold_gbps else -1.0
                )

    def fallbacks(self, memory: np.ndarray) -> int:
        return int(memory[FALLBACKS])
