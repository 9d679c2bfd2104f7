"""Adaptive seeds: how often the interval of the median at the stop holds it, and how many seeds that took."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import bdtr

from benchmarks.statistics.error_and_power import WORLDS
from benchmarks.statistics.rate import Rate
from workbench.statistics import Looks

LOOKS = tuple(range(20, 201, 20))


class Stopped(NamedTuple):
    """Many studies with adaptive seeds."""

    held: Rate
    seeds: float
    """In the mean."""


def stopped(law: str, width: float, repetitions: int, rule: str = "two narrow in a row") -> Stopped:
    """Stop by a rule, in a world of paired differences whose median is 0, at a half width in its unit.

    Parameters
    ----------
    rule : str
        The workbench's; "one narrow"; or 0.4's, "corrected for location", of one narrow interval at Pocock's level.
    """
    values = WORLDS[law](np.random.default_rng(len(law)), (repetitions, LOOKS[-1]))
    level = Looks(LOOKS).level(0.95) if rule == "corrected for location" else 0.95
    in_a_row = 2 if rule == "two narrow in a row" else 1
    open_, narrow = np.ones(repetitions, bool), np.zeros(repetitions, int)
    holds, ends = np.zeros(repetitions, bool), np.zeros(repetitions)
    for count in LOOKS:
        ordered = np.sort(values[:, :count], axis=1)
        cut = int((2 * bdtr(np.arange(count // 2), count, 0.5) < 1 - level).sum()) - 1
        low, high = ordered[:, cut], ordered[:, -1 - cut]
        narrow = np.where((high - low) / 2 <= width, narrow + 1, 0)
        stops = open_ & ((narrow >= in_a_row) | (count == LOOKS[-1]))
        holds[stops] = ((low <= 0) & (high >= 0))[stops]
        ends[stops], open_ = count, open_ & ~stops
    return Stopped(Rate(int(holds.sum()), repetitions), float(ends.mean()))
