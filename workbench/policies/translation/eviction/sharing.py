"""Evictions that look at how many cores hold a page: they protect what many hold, or what few hold (spec 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from workbench.errors import PolicyError, wrong_value
from workbench.levers import lever
from workbench.policies.arguments import whole, wholes
from workbench.policies.translation.eviction.question import (
    HIGH,
    LOOP,
    LOW,
    LOWEST_DEGREE,
    NEXT_BATCH,
    PLAIN_BASE,
    Eviction,
)
from workbench.policies.translation.eviction.recency import MRU

_FALLBACKS = {"plain_base": PLAIN_BASE, "next_batch": NEXT_BATCH, "lowest_degree": LOWEST_DEGREE, "loop": LOOP}


class SharingAwareEviction(Eviction):
    """Evict the base policy's first candidate that fewer cores hold than the threshold; ties as the base breaks them.

    The degree counts the local core too (spec 4, E4). If every candidate is protected, the fallback decides:
    `plain_base` evicts the base's first choice; `next_batch` examines the next candidates until the set is exhausted,
    then the same; `lowest_degree` evicts the candidate that the fewest cores hold, the first of equals. `loop` is the
    literal text, which begins again with the same candidates: it never ends, and is stopped with an error.

    References
    ----------
    spec 4, R22-R27, E3; source document paragraphs 85-89.

    Examples
    --------
    >>> SharingAwareEviction(base="mru", candidates=4, share_threshold=3).victim(degrees=(3, 2, 1, 1))
    1
    """

    base: Eviction = lever(MRU(), description="what proposes the candidates")
    candidates: int = lever(4, least=1, most=1 << 16, unit="entries", description="candidates that are examined")
    share_threshold: int = lever(
        2, least=2, most=1024, unit="cores", description="protect what so many cores hold, or more"
    )
    fallback: Literal["plain_base", "next_batch", "lowest_degree", "loop"] = lever(
        "plain_base", description="what is evicted when every candidate is protected"
    )

    def check(self) -> None:
        if isinstance(self.base, SharingAwareEviction):
            raise wrong_value("", f"{self.name}.base", "must be a policy that protects nothing", self.base.name, "mru")

    @property
    def draws(self) -> bool:  # type: ignore[override]
        """Return whether the base draws random numbers."""
        return self.base.draws

    def base_policy(self) -> Eviction:
        return self.base

    def protection(self) -> tuple[int, int, int, int]:
        return HIGH, self.candidates, self.share_threshold, _FALLBACKS[self.fallback]

    def most_threshold(self) -> int:
        return self.share_threshold

    def protected(self, degree: int) -> bool:
        """Return whether an entry that so many cores hold is passed over.

        >>> SharingAwareEviction(share_threshold=2).protected(1), SharingAwareEviction(share_threshold=2).protected(2)
        (False, True)
        """
        return whole("degree", degree) >= self.share_threshold

    def victim(self, degrees: Sequence[int]) -> int:
        """Choose which of a set's entries goes, in plain Python: its position among the entries in the base's order.

        Parameters
        ----------
        degrees : sequence of int
            How many cores hold each, the local one included; the base policy's first choice first.

        Raises
        ------
        InputError
            There is no entry.
        PolicyError
            The fallback is `loop` and every candidate is protected: the rule would never end.
        """
        degrees = wholes("degrees", degrees)
        if not degrees:
            raise wrong_value("", "degrees", "must name at least one entry", degrees)
        examined = degrees if self.fallback == "next_batch" else degrees[: self.candidates]
        open_ones = (k for k, shared in enumerate(examined) if not self.protected(shared))
        unprotected = next(open_ones, None)
        if unprotected is not None:
            return unprotected
        if self.fallback == "loop":
            raise PolicyError(f"{self.short()} never ends: every candidate stays protected, however often it is asked.")
        return list(examined).index(min(examined)) if self.fallback == "lowest_degree" else 0


class ProtectLowDegree(SharingAwareEviction):
    """Evict the base policy's first candidate that so many cores hold as the threshold, or more; ties as the base.

    The opposite of the document's rule: what many hold is fetched again from a peer, what one core alone holds is not.
    If every candidate is protected, `plain_base` or `next_batch` decides.

    References
    ----------
    spec 4, E17: a rival.

    Examples
    --------
    >>> ProtectLowDegree(share_threshold=2).victim(degrees=(1, 2, 1, 1))
    1
    """

    fallback: Literal["plain_base", "next_batch"] = lever(
        "plain_base", description="what is evicted when every candidate is protected"
    )

    def protection(self) -> tuple[int, int, int, int]:
        return (LOW, *super().protection()[1:])

    def protected(self, degree: int) -> bool:
        return whole("degree", degree) < self.share_threshold
