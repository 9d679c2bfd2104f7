"""Least recent energy: the proposal of the source document for an even temperature."""

from __future__ import annotations

import numpy as np

from workbench.levers import lever
from workbench.policies.dispatch.choice.question import CLASSES, Choice
from workbench.policies.dispatch.choice.view import ChoiceView
from workbench.policies.weights import check_weights


class LeastRecentEnergy(Choice):
    """Take the module whose instructions of the last `nx` cycles weigh least; ties as the engine breaks them.

    The score of a module is minus the sum over the classes of weight x instructions in the cycles t - nx to t - 1 of a
    decision at cycle t; nothing yet counts as 0. The weights are energies, of which only the ratios matter; they come
    from a calibration (`InstructionCalibrator`).

    References
    ----------
    spec 3, R74-R80, E19, E22, E23, V34, V35; source document ¶260-284, claims 1-8. The default weights are those of
    V34; nx = 1024 is the document's (¶279).

    Examples
    --------
    >>> policy = LeastRecentEnergy(weights=(1, 4, 4, 16, 1, 2))
    >>> policy.choose([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    0
    >>> policy.scores([(100, 50, 20, 10, 30, 5), (300, 10, 10, 2, 100, 40)])
    [-580.0, -592.0]
    """

    rows_are = "recent"
    weights: tuple[float, ...] = lever(
        (1, 4, 4, 16, 1, 2),
        least=0,
        most=1e12,
        description="weight of each class: move, load, store, matrix, compare, jump",
    )
    nx: int = lever(
        1024, least=1, most=1 << 20, scale="power_of_two", unit="cycles", description="the length of the recent past"
    )

    @staticmethod
    def answer(see: ChoiceView) -> None:
        classes = see.levers.size
        for k in range(see.count):
            energy = 0.0
            for s in range(classes):
                energy += see.levers[s] * see.recent[see.modules[k] * classes + s]
            see.scores[k] = -energy

    def parameters(self) -> np.ndarray:
        return np.array(self.weights)

    def history_cycles(self) -> int:
        return self.nx

    def check(self) -> None:
        check_weights(self.weights, CLASSES, "class", f"{self.name}.weights")
