"""Which entries of the shared TLB are not made, because they would leave it unused? (docs/translation-rules.md)"""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.errors import InputError
from workbench.levers import Family, lever


class Prediction(NamedTuple):
    """How dead entries are predicted, as whole numbers."""

    threshold: int
    """From which count on an entry is not made; 0 = every entry is."""
    counters: int
    region_pages: int
    remembered: int


class Bypass(Family, noun="bypass", example="{dead_entries: {threshold: 6}}"):
    """The base of every rule."""

    def prediction(self) -> Prediction:
        """Return how dead entries are predicted."""
        return Prediction(0, 0, 1, 0)


class Never(Bypass):
    """Every walk makes its entry.

    >>> Never().prediction().threshold
    0
    """


class DeadEntries(Bypass):
    """Entries of a region whose last ones left the shared TLB unused are not made.

    A saturating counter a region grows with an entry that left unused and is cleared by one that was used; so it is
    when a page that was bypassed is missed while it is remembered.

    References
    ----------
    Mazumdar, Mitra, Basu, "Dead Page and Dead Block Predictors: Cleaning TLBs and Caches Together", HPCA 2021. There a
    counter is chosen by the instruction's address too, which traces of pages do not have.

    >>> DeadEntries(counters=64).prediction()
    Prediction(threshold=6, counters=64, region_pages=16, remembered=2)
    """

    threshold: int = lever(
        6, least=1, most=255, unit="entries", description="unused entries until a region is bypassed"
    )
    counters: int = lever(1024, least=1, most=1 << 16, scale="power_of_two", unit="counters", description="counters")
    region_pages: int = lever(
        16, least=1, most=1 << 20, scale="power_of_two", unit="pages", description="neighbouring tags of one counter"
    )
    remembered: int = lever(
        2, least=0, most=64, unit="pages", description="bypassed pages whose next miss proves the prediction wrong"
    )

    def prediction(self) -> Prediction:
        return Prediction(self.threshold, self.counters, self.region_pages, self.remembered)


def check_bypass(bypass: Bypass, inclusive: bool, machine: Any) -> None:
    """Refuse to bypass what is not there, and what must hold all that private TLBs hold.

    Raises
    ------
    InputError
        The sentence names the lever with its path.
    """
    path = f"options.bypass must be never where {{}}. Got {bypass.name}."
    if bypass.prediction().threshold and machine.shared_entries == 0:
        raise InputError(path.format("there is no shared TLB (shared_entries: 0)"))
    if bypass.prediction().threshold and inclusive:
        raise InputError(path.format("the shared TLB is inclusive: it holds what private ones hold"))
