"""What any policy could have granted of a pool's demand.

The bound is that of cards as one pool whose regions may be moved and divided: max-flow.
"""

from __future__ import annotations

import itertools
from typing import Any, Literal, NamedTuple

import numpy as np

from workbench.errors import InputError, unknown_name
from workbench.explain.pool_demand import Demand, fullest_moments

MOST_CUTS = 1024

MOST_ENTRIES = 5_000_000

Of = Literal["regions", "bytes"]


class Cuts(NamedTuple):
    """Sets of borrowers that together can have no more than the cards that any of them may use: Hall's conditions."""

    members: np.ndarray
    """int64[cuts, cards], 1 = the card's applications belong to the set."""
    capacity: np.ndarray
    """int64[cuts], bytes of those cards."""


def cuts_of(demand: Demand) -> Cuts:
    """Return every cut that can be the least: by max-flow and min-cut a load fits if and only if it exceeds none.

    Borrowers that may use the same cards are one; a set that another one with the same cards holds is left out.

    Raises
    ------
    InputError
        The borrowers differ so much in the cards they may use that there are more than 1,024 cuts.

    References
    ----------
    spec 5, R15; P. Hall, "On representatives of subsets", J. London Math. Soc. 10, 1935; L. R. Ford, D. R. Fulkerson,
    "Maximal flow through a network", Canad. J. Math. 8, 1956.

    Examples
    --------
    Card 1 does not lend: applications of card 0 have its 10 bytes alone, those of both cards together 14.

    >>> nothing, two = np.zeros(0, np.int64), np.full((2, 2), 12.0)
    >>> cuts = cuts_of(Demand(*[nothing] * 5, np.array([10, 4]), two, np.array([True, False])))
    >>> cuts.members.tolist(), cuts.capacity.tolist()
    ([[0, 0], [1, 0], [1, 1]], [0, 10, 14])
    """
    reach = demand.allowed.T
    unions = {np.zeros(len(reach), bool).tobytes()}
    for kind in np.unique(reach, axis=0):
        unions |= {(np.frombuffer(one, bool) | kind).tobytes() for one in unions}
        if len(unions) > MOST_CUTS:
            raise InputError(f"the cards may borrow in too many different ways: more than {MOST_CUTS:,} cuts.")
    usable = np.array([np.frombuffer(one, bool) for one in sorted(unions)])
    members = ~(reach[None, :, :] & ~usable[:, None, :]).any(axis=2)
    return Cuts(members.astype(np.int64), usable.astype(np.int64) @ demand.capacity)


def granted_in_order(demand: Demand) -> np.ndarray:
    """Return the regions that a policy grants that refuses nothing that fits, if it may move and divide regions:
    bool[regions].

    Requests are taken in their order; one is refused where the live bytes of all that were granted, and its own, have
    no place together on whichever cards. A policy that leaves regions where they are can be at this frontier, not
    beyond it, as long as it grants the same requests before.

    References
    ----------
    spec 5, R24, H5.1 (completion whenever free memory suffices).

    Examples
    --------
    >>> times, two = np.arange(4), np.full((2, 2), 12.0)
    >>> regions = np.array([0, 1, 3]), np.array([2, 4, 4]), np.array([9, 8, 8]), np.array([0, 0, 1])
    >>> granted_in_order(Demand(times, *regions, np.array([10, 4]), two, np.ones(2, bool)))
    array([ True, False,  True])
    """
    cuts, live = cuts_of(demand), np.zeros(demand.capacity.size, np.int64)
    taken = np.zeros(demand.begin.size, bool)
    starts = dict(zip(demand.begin.tolist(), itertools.count()))
    stops = dict(zip(demand.end.tolist(), itertools.count()))
    for row in range(demand.time.size):
        if row in starts:
            region = starts[row]
            live[demand.borrower[region]] += demand.size[region]
            taken[region] = bool((cuts.members @ live <= cuts.capacity).all())
            if not taken[region]:
                live[demand.borrower[region]] -= demand.size[region]
        elif row in stops and taken[stops[row]]:
            live[demand.borrower[stops[row]]] -= demand.size[stops[row]]
    return taken


def most_granted(demand: Demand, of: Of = "regions") -> float:
    """Compute a share of the demand that no policy exceeds, even one that knows the future and refuses what it likes.

    The linear relaxation of choosing which requests are granted, so that at each moment what lives has a place on the
    cards; regions may be moved and divided.

    Parameters
    ----------
    of : {"regions", "bytes"}
        Whether requests are counted, or their bytes.

    Returns
    -------
    float
        From 0 to 1; NaN where nothing is asked for.

    Raises
    ------
    InputError
        There is no such unit, or the run is too long: more than 5,000,000 lives at the moments that count.

    References
    ----------
    spec 5, section 7 (offline optimum) and H5.1.

    Examples
    --------
    Of three regions that live together the two of 5 bytes fill the card.

    >>> regions = np.arange(3), np.full(3, 3), np.array([8, 5, 5]), np.zeros(3, np.int64)
    >>> one = Demand(np.arange(3), *regions, np.array([10]), np.full((1, 1), np.inf), np.ones(1, bool))
    >>> round(most_granted(one), 3), round(most_granted(one, "bytes"), 3)
    (0.667, 0.556)
    """
    from scipy.optimize import linprog

    if of not in ("regions", "bytes"):
        raise unknown_name("", "unit of what is granted", of, ("regions", "bytes"))
    worth = (
        demand.size / demand.size.sum() if of == "bytes" else np.full(demand.size.size, 1 / max(demand.size.size, 1))
    )
    if not worth.size:
        return float("nan")
    table, limits = _tight_cuts(demand)
    if not limits.size:
        return 1.0
    solution: Any = linprog(-worth, table, limits, bounds=(0, 1), method="highs")
    return float(-solution.fun)


def _tight_cuts(demand: Demand) -> tuple[Any, np.ndarray]:
    """Return a row for each fullest moment and cut that all that lives would exceed: its bytes and the limit, in that
    load."""
    from scipy.sparse import csr_array, vstack

    cuts, rows, entries = cuts_of(demand), [csr_array((0, demand.size.size))], 0
    limits: list[float] = []
    for live in fullest_moments(demand):
        inside = cuts.members[:, demand.borrower[live]] * demand.size[live]
        load = inside.sum(axis=1)
        for cut in np.flatnonzero(load > cuts.capacity):
            share = inside[cut] / load[cut]
            rows.append(csr_array((share, (np.zeros(live.size, np.int64), live)), (1, demand.size.size)))
            limits.append(float(cuts.capacity[cut] / load[cut]))
            entries += live.size
        if entries > MOST_ENTRIES:
            raise InputError(
                f"most_granted takes at most {MOST_ENTRIES:,} lives at moments that count; shorten the run."
            )
    return vstack(rows, format="csr"), np.array(limits)
