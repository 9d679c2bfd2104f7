"""Cards by the policies of operating systems for NUMA nodes: first touch, bind, preferred, interleave; local or host.

A lever names cards by their ids; `marked` turns its text into places on a board.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.levers import lever
from workbench.policies.pool.target.load_balancing import RoundRobin
from workbench.policies.pool.target.question import Target
from workbench.policies.pool.target.view import TargetView


class FirstTouch(Target):
    """Take the next card in the order of distance, counted in direct links, the lowest id first at equal distance.

    The page is placed where it is touched first, the own card; when that is full, on the next node of its list.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/page_alloc (the fallback lists of nodes by distance).

    Examples
    --------
    >>> FirstTouch().choose(20, [("gpu3", 40, 150), ("gpu6", 60, 24), ("gpu5", 60, 25)], hops=(2, 1, 1))
    'gpu6'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.hops[see.cards[k]] * 1024.0) - see.cards[k]


class ByName(Target, abstract=True):
    """The base of choices whose lever `cards` names cards."""

    cards: str

    def check(self) -> None:
        check_named(self.name, self.cards)

    def parameters_on(self, ids: Sequence[str]) -> np.ndarray:
        """Return the named cards: float64[cards]."""
        return marked(self.name, self.cards, ids)

    def own_first(self) -> bool:
        return False


class Bind(ByName):
    """Take the nearest named card in direct links, the lowest id at equal distance; refuse all that are not named.

    The own card is one of them only if it is named: a request fails when the named cards are full, whatever else is
    free.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/mempolicy.c (MPOL_BIND).

    Examples
    --------
    >>> cards = [("gpu1", 90, 150), ("gpu2", 90, 24)]
    >>> Bind(cards="gpu2").choose(20, cards), Bind(cards="gpu2").choose(20, [("gpu1", 90, 150), ("gpu2", 10, 24)])
    ('gpu2', None)
    """

    cards: str = lever("gpu0", description="ids of the only cards that give memory, with a space between them")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -(see.hops[see.cards[k]] * 1024.0) - see.cards[k] if see.levers[see.cards[k]] else -math.inf


class Preferred(ByName):
    """Take a named card while one has space, else any; the nearest in direct links, the lowest id at equal distance.

    The own card has no precedence of its own: it is the nearest of those that are not named.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, mm/mempolicy.c (MPOL_PREFERRED, MPOL_PREFERRED_MANY).

    Examples
    --------
    >>> near = [("gpu1", 90, 150), ("gpu2", 90, 24), ("gpu3", 90, 24)]
    >>> Preferred(cards="gpu3").choose(20, near), Preferred(cards="gpu3").choose(20, near[:2] + [("gpu3", 10, 24)])
    ('gpu3', 'gpu1')
    """

    cards: str = lever("gpu0", description="ids of the cards that are preferred, with a space between them")

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            away = see.hops[see.cards[k]] * 1024.0 + see.cards[k]
            see.scores[k] = -away if see.levers[see.cards[k]] else -away - 1e9


class Interleave(RoundRobin):
    """Take the first card with space behind the one that was taken last, the own card among them; there are no ties.

    Nothing is local first: bandwidth and use are spread at the price of distance.

    References
    ----------
    spec 5, section 7 (NUMA policies); Linux, MPOL_INTERLEAVE.

    Examples
    --------
    >>> Interleave().choose(20, [("gpu0", 90, 5000), ("gpu1", 90, 24)], after=("gpu0",))
    'gpu1'
    """

    def own_first(self) -> bool:
        return False


class LocalOnly(Target):
    """Refuse every other card: a request fails when the own card is full. No card is taken, so there are no ties.

    References
    ----------
    spec 5, section 7 (the document's "before"), H5.1, H5.2.

    Examples
    --------
    >>> LocalOnly().choose(20, [("gpu1", 90, 24)]) is None
    True
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = -math.inf


class HostOffload(Target):
    """Take the CPU card with the fastest path, never a GPU; ties as the engine breaks them.

    References
    ----------
    spec 5, section 7 (host-memory offload and swapping).

    Examples
    --------
    >>> HostOffload().choose(20, [("gpu1", 90, 150), ("cpu0", 90, 12), ("cpu1", 90, 16)])
    'cpu1'
    """

    @staticmethod
    def answer(see: TargetView) -> None:
        for k in range(see.count):
            see.scores[k] = see.gbps[see.cards[k]] if see.hosts[see.cards[k]] else -math.inf


def check_named(policy: str, text: str) -> None:
    """Refuse a text that names no card, or one twice.

    >>> check_named("bind", "gpu0 gpu0")
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards must name different cards with a space between them. Got 'gpu0 gpu0'.
    >>> check_named("bind", "gpu0,gpu1")
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards must name different cards with a space between them. Got 'gpu0,gpu1'.
    """
    ids = text.split(" ")
    if "" in ids or "," in text or len(set(ids)) != len(ids):
        raise InputError(f"{policy}.cards must name different cards with a space between them. Got {text!r}.")


def marked(policy: str, text: str, ids: Sequence[str]) -> np.ndarray:
    """Return the cards that a text names: float64[cards], 1 = it does.

    Raises
    ------
    InputError
        It names one that is not among the ids.

    Examples
    --------
    >>> marked("bind", "gpu1 cpu0", ("cpu0", "gpu0", "gpu1"))
    array([1., 0., 1.])
    >>> marked("bind", "gpu7", ("gpu0", "gpu1"))
    Traceback (most recent call last):
    workbench.errors.InputError: bind.cards: unknown card 'gpu7'; there are gpu0, gpu1. Did you mean gpu1?
    """
    named = np.zeros(len(ids))
    for name in text.split(" "):
        if name not in ids:
            raise unknown_name(f"{policy}.cards", "card", name, ids)
        named[list(ids).index(name)] = 1.0
    return named
