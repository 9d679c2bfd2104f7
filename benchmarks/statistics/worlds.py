"""The fourteen worlds: laws of paired differences, or of logs of paired ratios; above 0 = better."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special

Size = tuple[int, int, int]
"""Seeds, studies, comparisons."""


class World(NamedTuple):
    """One law, of which as many differing seeds gain as lose."""

    draw: Callable[[np.random.Generator, Size], np.ndarray]
    deviation: float = 1.0
    """The unit of effects; where there are disasters or infinite values, that of the other values."""
    mean: float | None = 0.0
    """None where values are infinite."""
    has_ties: bool = False


def moved(world: World, values: np.ndarray, by: float) -> np.ndarray:
    """Return values that gain `by` standard deviations. Ties stay ties."""
    if by == 0:
        return values
    gained = values + by * world.deviation
    return np.where(values == 0, 0.0, gained) if world.has_ties else gained


def _ties(draws: np.random.Generator, size: Size) -> np.ndarray:
    return np.where(draws.random(size) < 0.6, 0.0, draws.standard_normal(size))


_DISASTERS = float(special.ndtri(0.5 / 0.95))
"""The median of the ordinary values, so that with 5 % disasters half of all values are above 0."""


def _disasters(draws: np.random.Generator, size: Size) -> np.ndarray:
    return draws.standard_normal(size) + np.where(draws.random(size) < 0.05, -20.0, _DISASTERS)


def _infinite(draws: np.random.Generator, size: Size) -> np.ndarray:
    finite = draws.standard_normal(size) + float(special.ndtri(0.5 / 0.8))
    return np.where(draws.random(size) < 0.2, -np.inf, finite)


def _u_shaped(draws: np.random.Generator, size: Size) -> np.ndarray:
    """Return values of Beta(1/2, 1/2), from -1/2 to 1/2."""
    return np.sin(np.pi * (draws.random(size) - 0.5)) / 2


def _shared(draws: np.random.Generator, size: Size) -> np.ndarray:
    """Return differences of all comparisons of a study to one baseline."""
    return draws.standard_normal((*size[:2], 1)) - draws.standard_normal(size)


def _lognormal(draws: np.random.Generator, size: Size) -> np.ndarray:
    return np.exp(draws.standard_normal(size)) - 1


def _exponential(draws: np.random.Generator, size: Size) -> np.ndarray:
    return draws.standard_exponential(size) - math.log(2)


_LOGNORMAL_DEVIATION = math.sqrt((math.e - 1) * math.e)
_LOGNORMAL_MEAN, _EXPONENTIAL_MEAN = math.exp(0.5) - 1, 1 - math.log(2)

WORLDS: dict[str, World] = {
    "normal": World(lambda draws, size: draws.standard_normal(size)),
    "t3": World(lambda draws, size: draws.standard_t(3, size), math.sqrt(3)),
    "lognormal": World(_lognormal, _LOGNORMAL_DEVIATION, _LOGNORMAL_MEAN),
    "lognormal, mirrored": World(lambda *args: -_lognormal(*args), _LOGNORMAL_DEVIATION, -_LOGNORMAL_MEAN),
    "exponential": World(_exponential, 1.0, _EXPONENTIAL_MEAN),
    "exponential, mirrored": World(lambda *args: -_exponential(*args), 1.0, -_EXPONENTIAL_MEAN),
    "uniform": World(lambda draws, size: draws.random(size) - 0.5, math.sqrt(1 / 12)),
    "60 % ties": World(_ties, has_ties=True),
    "5 % disasters of 20 sd": World(_disasters, 1.0, 0.95 * _DISASTERS - 0.05 * 20),
    "bounded, U-shaped": World(_u_shaped, math.sqrt(1 / 8)),
    "20 % infinite": World(_infinite, 1.0, None),
    "constant": World(lambda draws, size: np.zeros(size)),
    "shared baseline": World(_shared, math.sqrt(2)),
}
"""The worlds without an effect."""
SKEWED = tuple(name for name, world in WORLDS.items() if world.mean)
"""Worlds whose mean is not 0 where their median is: no law of these has both, so size words are judged apart."""
SIZE_WORLDS = ("normal", "t3", "uniform")
"""Worlds in which size words are judged; elsewhere their errors are published."""
BOTH_WORLDS = (*SIZE_WORLDS, "shared baseline")
"""Worlds in which words of either kind are judged together."""
TIED_GAIN = "40 % better, 60 % ties"


def tied_gain(draws: np.random.Generator, size: Size) -> np.ndarray:
    """Return the fourteenth world, of power alone: exponential gains at 40 % of the seeds, ties at the others."""
    return np.where(draws.random(size) < 0.4, draws.standard_exponential(size), 0.0)
