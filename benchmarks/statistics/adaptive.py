"""Adaptive seeds: how often the interval at the stop holds the truth, and how many seeds that took."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics.coverage import LAWS
from benchmarks.statistics.rate import Rate
from workbench.studies.statistics import Looks

LOOKS = tuple(range(20, 201, 20))


class Stopped(NamedTuple):
    """Many studies with adaptive seeds."""

    held: Rate
    seeds: float
    """In the mean."""
    needed: float
    """What a fixed number of seeds would be that gives the width asked for, were the deviation known."""


def stopped(law: str, width: float, repetitions: int, rule: str = "two narrow in a row") -> Stopped:
    """Stop by a rule, with half widths in standard deviations.

    Parameters
    ----------
    rule : str
        The workbench's; "one narrow"; or 0.4's, "corrected for location", of one narrow interval at Pocock's level.
    """
    draw, mean = LAWS[law]
    values = draw(np.random.default_rng(len(law)), repetitions * LOOKS[-1]).reshape(repetitions, -1)
    deviation = {"lognormal": float(np.sqrt((np.e - 1) * np.e))}.get(law, 1.0)
    level = Looks(LOOKS).level(0.95) if rule == "corrected for location" else 0.95
    in_a_row = 2 if rule == "two narrow in a row" else 1
    open_, narrow = np.ones(repetitions, bool), np.zeros(repetitions, int)
    holds, ends = np.zeros(repetitions, bool), np.zeros(repetitions)
    for count in LOOKS:
        seen = values[:, :count]
        half = stdtrit(count - 1, (1 + level) / 2) * seen.std(axis=1, ddof=1) / np.sqrt(count)
        narrow = np.where(half <= width * deviation, narrow + 1, 0)
        stops = open_ & ((narrow >= in_a_row) | (count == LOOKS[-1]))
        holds[stops] = (np.abs(seen.mean(axis=1) - mean) <= half)[stops]
        ends[stops], open_ = count, open_ & ~stops
    return Stopped(Rate(int(holds.sum()), repetitions), float(ends.mean()), (1.96 / width) ** 2)
