"""What the data say about a claim in one case: a finding with its p-values for the claim and against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.statistics.comparison import Equivalence, PairedComparison
from workbench.statistics.interval import Interval

Side = Literal["for", "against", "neither"]
"""Where the interval lies: clear on the claimed side, clear on the other side, or not clear."""


class Finding(NamedTuple):
    """The evidence on one claim; `judge` makes a `Verdict` of it."""

    id: str
    statement: str
    side: Side
    estimate: float
    interval: Interval | None
    """None where nothing was estimated (a fact)."""
    p_value: float | None
    """None where nothing was tested: a fact, or a sample without a value (n = 0), which is no member of any family."""
    n: int
    note: str
    missing: int = 0
    """Seeds that lack a value on one side or on both, for instance because a run failed."""
    measure: str = ""
    unit: str = ""
    """Of the estimate and of the limits of its interval."""
    p_against: float | None = None
    """Of an equivalence: against "within the band". Of anything else `p_value` speaks for the side of the estimate."""
    null: float = 0.0
    """Where the estimate speaks for neither side."""
    results: str = ""
    """The sweep whose runs it rests on."""

    @property
    def both_p(self) -> tuple[float, float]:
        """Return the p-values for the claim and against it: of a fact 0 and 1, of what was not tested 1 and 1."""
        if not self.n:
            return 1.0, 1.0
        if self.p_value is None:
            return (0.0, 1.0) if self.side == "for" else (1.0, 0.0)
        if self.p_against is not None:
            return self.p_value, self.p_against
        return (self.p_value, 1.0) if self.estimate > self.null else (1.0, self.p_value)


def superior(id: str, statement: str, comparison: PairedComparison) -> Finding:
    """Return the claim that the other policy is better in what the comparison judges, the median difference or the
    mean.

    Against it: the interval lies below zero; interval and p-value are of one estimand and cannot disagree.

    Examples
    --------
    >>> from workbench.statistics.comparison import compare
    >>> superior("H1.1", "drains faster", compare([9, 8, 9, 7, 8, 9], [7, 7, 6, 6, 6, 6])).side
    'for'
    """
    return Finding(
        id,
        statement,
        _clear(comparison.interval, 0),
        comparison.interval.mean,
        comparison.interval,
        comparison.p_value if comparison.n else None,
        comparison.n,
        comparison.sentence,
        len(comparison.missing),
    )


def equivalent(id: str, statement: str, result: Equivalence) -> Finding:
    """Return the claim that a median lies within a band; p is that of the two one-sided tests.

    Examples
    --------
    >>> from workbench.statistics.comparison import median_within
    >>> equivalent("H1.3", "costs nothing", median_within([0.1, -0.1, 0.0, 0.1, -0.1], (-1, 1))).side
    'for'
    """
    side: dict[str, Side] = {"inside": "for", "outside": "against", "across": "neither"}
    interval, (low, high) = result.interval, result.band
    note = f"median {interval} ({100 * interval.level:.4g} %) lies {result.place} the band {low:g} to {high:g}"
    tested = interval.n > 0
    return Finding(
        id,
        statement,
        side[result.place],
        interval.mean,
        interval,
        result.p_value if tested else None,
        interval.n,
        note,
        p_against=result.p_outside if tested else None,
    )


def fact(id: str, statement: str, true: bool, *, estimate: float = np.nan, n: int = 1, note: str = "") -> Finding:
    """Return a claim that is counted out, not sampled (a number of stages, an overlap of zero): no interval, no
    p-value.

    Examples
    --------
    >>> fact("H3.3", "takes log2(128) = 7 stages", (128).bit_length() - 1 == 7, estimate=7).side
    'for'
    """
    return Finding(id, statement, "for" if true else "against", estimate, None, None, n, note)


def every(id: str, statement: str, parts: Sequence[Finding]) -> Finding:
    """Return the claim that all of several things hold; it shows the figures of the part that it stands or falls with.

    For it: all parts are. As all parts must be shown, the largest p-value is the p-value of the whole, without
    correction (intersection-union test, Berger 1982). Against it: at least one is, and as the worst of several must
    be told from luck, its p-value times their number (Bonferroni) is below 1 - the level of its interval. The part
    shown is the first one against, else one without a value, else the one with the largest p. Where a part has no
    value, the whole is not tested.

    Raises
    ------
    InputError
        No parts.

    Examples
    --------
    >>> parts = [fact("H1.4", "no overlap", True), fact("H1.4", "no gap", False)]
    >>> every("H1.4", "neither overlap nor gap", parts).side
    'against'
    """
    if not parts:
        raise InputError(f"claim {id} must have at least one part. Got none.")
    tested = [part for part in parts if part.p_value is not None]
    against = min((part for part in parts if part.side == "against"), key=lambda part: part.both_p[1], default=None)
    corrected = 0.0 if against is None else min(1.0, len(tested) * against.both_p[1])
    refuted = against is not None and (against.p_value is None or corrected < _alpha(against))
    side: Side = "against" if refuted else "for" if {part.side for part in parts} == {"for"} else "neither"
    finding = weakest_of(parts)
    p_value = max((part.p_value for part in tested), default=None) if all(part.n for part in parts) else None  # type: ignore[type-var]
    if refuted and against is not None:
        finding, p_value = against, None if against.p_value is None else corrected
    note = "; ".join(f"{part.id} {part.statement}: {part.side}" for part in parts)
    return finding._replace(id=id, statement=statement, side=side, p_value=p_value, p_against=None, note=note)


def _alpha(part: Finding) -> float:
    return 1 - part.interval.level if part.interval is not None else 0.05


def weakest_of(parts: Sequence[Finding]) -> Finding:
    """Return the part that `every` stands or falls with: the first against, else the one with the least evidence."""
    return next((part for part in parts if part.side == "against"), max(parts, key=_p_or_nothing))


def some(id: str, statement: str, parts: Sequence[Finding]) -> Finding:
    """Return the claim that at least one of several things holds; it shows the figures of the one that speaks for it
    most.

    For it: at least one is; against it: all are. As the best of several tries must be told from luck, its p-value is
    the smallest times the number of parts that have a value (Bonferroni). Shown is the part for it, or else not against
    it, that has the smallest p; a fact, which is never luck, has none.

    Raises
    ------
    InputError
        No parts.

    Examples
    --------
    >>> parts = [fact("H1.5", "faster at 64", False), fact("H1.5", "faster at 128", True)]
    >>> some("H1.5", "faster at some size", parts).side
    'for'
    """
    if not parts:
        raise InputError(f"claim {id} must have at least one part. Got none.")
    order = ("for", "neither", "against")
    strongest = min(parts, key=lambda part: (order.index(part.side), _p_or_nothing(part)))
    tries = sum(part.n > 0 for part in parts)
    p_value = None if strongest.p_value is None else min(1.0, tries * strongest.p_value)
    note = "; ".join(f"{part.id} {part.statement}: {part.side}" for part in parts)
    return strongest._replace(id=id, statement=statement, p_value=p_value, note=note)


def _p_or_nothing(part: Finding) -> float:
    """Return the key that orders parts by evidence: facts first, parts without a value last."""
    if not part.n:
        return 2.0
    return -1.0 if part.p_value is None else part.p_value


def _clear(interval: Interval, value: float) -> Side:
    return "for" if interval.above(value) else "against" if interval.below(value) else "neither"
