"""The share of remote hits from which a directory pays, by algebra (spec 4, section 4).

Of the translations that the shared TLB would have served, a share x finds a remote holder named; of these, a share f is
stale, and the shared TLB is asked after all. The directory costs d at every miss, saves s - R where the holder has the
page, and loses R where it has not. So it lowers the mean latency of a miss if and only if d < x (s - R - f s).
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import wrong_value

CASES = ((12, 4, 1), (12, 6, 1), (12, 8, 1), (12, 12, 1), (19, 12, 1), (10, 6, 1))
"""Shared access, remote round trip and directory look-up, in private accesses, of the specification's table."""
STALE = (0.0, 0.1, 0.3)
"""Shares of stale answers, of the same table."""


class BreakEven(NamedTuple):
    """One row of the table."""

    shared_cycles: float
    remote_cycles: float
    look_up_cycles: float
    stale_share: float
    remote_share: float | None
    """The share of remote hits from which it pays; None = never."""


def break_even(
    shared_cycles: float, remote_cycles: float, look_up_cycles: float, stale_share: float = 0.0
) -> float | None:
    """Compute the share of misses with a remote holder named above which the directory pays, None where it never does.

    At the share itself it neither pays nor costs. A break-even of 1 is reached by no trace in practice, for then every
    miss would have to find a holder; above 1 it is never reached.

    Parameters
    ----------
    shared_cycles, remote_cycles, look_up_cycles : float
        A shared access, the round trip to a peer, a directory look-up; in the same unit.
    stale_share : float
        Of the holders named, those that do not hold the page any more.

    Raises
    ------
    InputError
        A cost is negative, or the share is not from 0 to 1.

    Examples
    --------
    >>> break_even(12, 4, 1), break_even(12, 12, 1)
    (0.125, None)
    """
    for name, cost in (("shared", shared_cycles), ("remote", remote_cycles), ("look_up", look_up_cycles)):
        if not cost >= 0:
            raise wrong_value("", f"{name}_cycles", "must be at least 0", cost, 0)
    if not 0 <= stale_share <= 1:
        raise wrong_value("", "stale_share", "must be from 0 to 1", stale_share)
    saved = shared_cycles - remote_cycles - stale_share * shared_cycles
    if saved <= 0 or look_up_cycles > saved * (1 + 1e-12):
        return None
    return min(look_up_cycles / saved, 1.0)


def pays(
    remote_share: float,
    shared_cycles: float,
    remote_cycles: float,
    look_up_cycles: float,
    stale_share: float = 0.0,
) -> bool:
    """Return whether a directory lowers the mean latency of a miss when this share of misses finds a holder named.

    >>> pays(0.2, 12, 4, 1), pays(0.1, 12, 4, 1)
    (True, False)
    """
    least = break_even(shared_cycles, remote_cycles, look_up_cycles, stale_share)
    return least is not None and remote_share > least


def break_even_table() -> list[BreakEven]:
    """Return the specification's table, calculated: a row a case and share of stale answers.

    >>> len(break_even_table()), break_even_table()[0].remote_share
    (18, 0.125)
    """
    return [BreakEven(*costs, stale, break_even(*costs, stale)) for costs in CASES for stale in STALE]
