"""Empirical: named numbers with their weights."""

from __future__ import annotations

import numpy as np

from workbench.errors import InputError, wrong_value
from workbench.levers import lever
from workbench.workloads.synthetic.laws.law import LARGEST, Law


class Empirical(Law):
    """One of some numbers, each as often as its weight says; without weights all equally often.

    Numbers are taken in rising order: at rank u it is the first whose share of the weights, added to the shares before
    it, exceeds u.

    Examples
    --------
    >>> Law.read({"empirical": [1, 2, 4, 8]}).draw(np.array([0.0, 0.25, 0.99]))
    array([1, 2, 8])
    >>> Empirical(outcomes=(16, 1), weights=(1, 3)).draw(np.array([0.0, 0.74, 0.75]))
    array([ 1,  1, 16])
    """

    brief = ("outcomes",)
    outcomes: tuple[int, ...] = lever((1, 2, 4, 8), least=1, most=LARGEST, description="the numbers that may come")
    weights: tuple[float, ...] = lever((), least=0, most=1e15, description="how often each comes, on any scale")

    def check(self) -> None:
        if not self.outcomes:
            raise InputError("empirical.outcomes must hold at least one number. Got [].")
        if self.weights and len(self.weights) != len(self.outcomes):
            expected = f"must be as many as outcomes ({len(self.outcomes)}), or none"
            raise wrong_value("", "empirical.weights", expected, list(self.weights))
        if self.weights and not any(self.weights):
            raise wrong_value("", "empirical.weights", "must not all be zero", list(self.weights))

    def quantile(self, ranks: np.ndarray) -> np.ndarray:
        numbers, shares = self._rising()
        indices = np.searchsorted(shares, ranks * shares[-1], side="right")
        return numbers[np.minimum(indices, len(numbers) - 1)]

    def span(self) -> tuple[int, int]:
        numbers, _ = self._rising()
        return int(numbers[0]), int(numbers[-1])

    def _rising(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers that can come in rising order, and their weights added up."""
        numbers = np.array(self.outcomes, np.int64)
        weights = np.array(self.weights or [1.0] * len(numbers))
        order = np.argsort(numbers, kind="stable")
        order = order[weights[order] > 0]
        return numbers[order], np.cumsum(weights[order])
