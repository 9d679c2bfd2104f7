"""Adaptive seeds: how often the interval of the mean at the stop holds it, and how many seeds that took."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from benchmarks.statistics.error_and_power import seen_over
from benchmarks.statistics.rate import Rate
from benchmarks.statistics.worlds import WORLDS

LOOKS = tuple(range(20, 201, 20))


class Stopped(NamedTuple):
    """Many studies with adaptive seeds."""

    held: Rate
    seeds: float
    """In the mean."""


def stopped(world: str, width: float, repetitions: int, in_a_row: int = 2) -> Stopped:
    """Stop where the 95 % interval is narrow at so many looks in a row, the mean being 0.

    Parameters
    ----------
    width : float
        Half of it, in standard deviations.
    in_a_row : int
        2 in the workbench.
    """
    law = WORLDS[world]
    draws = np.random.default_rng([*world.encode()])
    values = (law.draw(draws, (LOOKS[-1], repetitions, 1))[..., 0] - (law.mean or 0.0)) / law.deviation
    open_, narrow = np.ones(repetitions, bool), np.zeros(repetitions, int)
    holds, ends = np.zeros(repetitions, bool), np.zeros(repetitions)
    for count, seen in seen_over(values, LOOKS).items():
        half = stdtrit(count - 1, 0.975) * seen.spread / np.sqrt(count)
        narrow = np.where(half <= width, narrow + 1, 0)
        stops = open_ & ((narrow >= in_a_row) | (count == LOOKS[-1]))
        holds[stops] = (np.abs(seen.mean) <= half)[stops]
        ends[stops], open_ = count, open_ & ~stops
    return Stopped(Rate(int(holds.sum()), repetitions), float(ends.mean()))
