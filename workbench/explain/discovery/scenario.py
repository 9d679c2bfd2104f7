"""A scenario: the search for a box and its test against chance.

The search peels, takes the clearest box, pastes, drops idle limits, and asks chance: would labels scattered at random
give a box as clear? A search always returns one; this says whether to heed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.explain.discovery.cases import Cases, Column
from workbench.explain.discovery.prim import Box, Limit, limits, members, paste, peel, quasi_p, whole, without_idle
from workbench.statistics import holm
from workbench.statistics.floors import fewest_shuffles
from workbench.streams import Streams

SHUFFLES = 199
"""Of the labels, at least; the smallest p-value is then 1 in 200."""
LEVEL = 0.05
"""What the p-value of a search must be below for its box to be one."""


class Scenario(NamedTuple):
    """One box, and whether it is one."""

    cases: Cases
    """The points that were searched: of a second box those outside of the first."""
    number: int
    """From 1; each box is searched among the points outside of those before."""
    trajectory: list[Box]
    """From the whole space inwards."""
    box: Box
    """The chosen box after pasting, without idle limits; the whole space if there is none."""
    p_value: float
    """How likely a search among shuffled labels finds one as clear; 1 where there is nothing to search."""
    p_adjusted: float
    """The same after Holm's correction over all searches of the discovery: its policies and their boxes."""

    @property
    def is_box(self) -> bool:
        """Return whether there is a box that is better than the base rate."""
        return self.p_adjusted < LEVEL and bool(self.box.restricted)

    @property
    def limits(self) -> list[tuple[Limit, float]]:
        """Return each limit of the box with its quasi-p-value."""
        columns, hit = self.cases.columns, self.cases.hit
        return [(one, quasi_p(columns, hit, self.box, one)) for one in limits(columns, self.box)]


def scenarios(cases: Cases, boxes: int = 1, density: float | None = None, searches: int = 1) -> list[Scenario]:
    """Return so many boxes at most, each among the points outside of those before; the last may be none.

    Parameters
    ----------
    boxes : int
        How many at most.
    density : float, optional
        The largest peeled box that is at least so dense, or the densest; the one that tells points of interest best if
        None.
    searches : int
        How many searches are corrected together: of more than ten the labels are shuffled more often, so that their
        smallest p-value is below 5 % after correction.

    Raises
    ------
    InputError
        The density is not above 0 and at most 1, or the number of boxes not at least 1.
    """
    if density is not None and not 0 < density <= 1:
        raise InputError(f"density must be above 0 and at most 1. Got {density}.")
    if boxes < 1:
        raise InputError(f"boxes must be at least 1. Got {boxes}.")
    result: list[Scenario] = []
    while len(result) < boxes:
        result.append(_scenario(cases, len(result) + 1, density, max(SHUFFLES, fewest_shuffles(searches))))
        cases = cases.at(~members(cases.columns, result[-1].box.inside))
        if not result[-1].is_box or not cases.hit.any():
            break
    return result


def _scenario(cases: Cases, number: int, density: float | None, shuffles: int) -> Scenario:
    columns, hit = cases.columns, cases.hit
    if hit.all() or not hit.any():
        return Scenario(cases, number, [whole(columns, hit)], whole(columns, hit), 1.0, 1.0)
    trajectory = peel(columns, hit)
    p_value = p_by_chance(columns, hit, clearest(trajectory).contrast, shuffles=shuffles)
    chosen = paste(columns, hit, _chosen(trajectory, density))
    if density is None:
        chosen = without_idle(columns, hit, chosen)
    return Scenario(cases, number, trajectory, chosen if p_value < LEVEL else trajectory[0], p_value, p_value)


def corrected(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return the boxes of all policies with their p-values corrected together; what is then none is the whole space.

    A box that was searched outside of one that is none now is none either.
    """
    adjusted = holm({k: one.p_value for k, one in enumerate(scenarios)})
    result: list[Scenario] = []
    for k, one in enumerate(scenarios):
        earlier = [other for other in result if other.cases.policy == one.cases.policy]
        p_adjusted = max([adjusted[k], *(other.p_adjusted for other in earlier)])
        box = one.box if p_adjusted < LEVEL else one.trajectory[0]
        if all(other.is_box for other in earlier):
            result.append(one._replace(p_adjusted=p_adjusted, box=box))
    return result


def _chosen(trajectory: list[Box], density: float | None) -> Box:
    if density is None:
        return clearest(trajectory)
    dense = [box for box in trajectory if box.density >= density]
    return max(dense, key=lambda box: box.hits) if dense else max(trajectory, key=lambda box: box.density)


def inside_of(scenario: Scenario) -> np.ndarray:
    """Return the searched points that are inside: bool[points]."""
    return members(scenario.cases.columns, scenario.box.inside)


def clearest(boxes: Sequence[Box]) -> Box:
    """Return the box whose being inside goes most with being of interest; of equal ones that of fewer levers, then the
    larger one."""
    return max(boxes, key=lambda box: (box.contrast, -len(box.restricted)))


def p_by_chance(columns: tuple[Column, ...], hit: np.ndarray, contrast: Fraction, shuffles: int = SHUFFLES) -> float:
    """Return the p-value of a peeled box: how often the whole search does as well on shuffled labels.

    It answers for the search over all levers and limits, which a quasi-p-value does not. The shuffles are drawn again
    from the same seed, so the same points give the same number.
    """
    draws = np.random.default_rng(Streams(0).integer("scenario discovery"))
    as_clear = sum(clearest(peel(columns, draws.permutation(hit))).contrast >= contrast for _ in range(shuffles))
    return (1 + as_clear) / (1 + shuffles)
