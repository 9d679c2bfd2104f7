"""Least decayed energy: recent instructions counted without a window."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.choice.least_recent_energy import LeastRecentEnergy
from workbench.policies.dispatch.choice.question import CLASSES, Choice
from workbench.policies.weights import check_weights


class LeastDecayedEnergy(Choice):
    """Take the module whose instructions weigh least, older ones counting ever less; ties as the engine breaks them.

    A module has one counter a class, which is halved every `half_life` cycles: six numbers, where a sliding window
    must remember what happened in each of its cycles. Under a steady load the counters hold between one and two half
    lives of instructions.

    References
    ----------
    spec 3, section 7: exponentially decayed counters instead of a sliding window.

    Examples
    --------
    >>> LeastDecayedEnergy().choose([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    0
    """

    rows_are = "recent"
    weights: tuple[float, ...] = lever(
        (1, 4, 4, 16, 1, 2),
        least=0,
        most=1e12,
        description="weight of each class: move, load, store, matrix, compare, jump",
    )
    half_life: int = lever(
        1024, least=1, most=1 << 30, scale="log", unit="cycles", description="after how many cycles counters are halved"
    )
    answer = LeastRecentEnergy.answer

    def parameters(self) -> np.ndarray:
        return np.array(self.weights)

    def halving_cycles(self) -> int:
        return self.half_life

    def check(self) -> None:
        check_weights(self.weights, CLASSES, "class", f"{self.name}.weights")
