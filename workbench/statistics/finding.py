"""What the data say about a claim in one case: a finding with its p-values for the claim and against it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import InputError
from workbench.statistics.comparison import PairedComparison
from workbench.statistics.equivalence import Equivalence
from workbench.statistics.interval import Interval

Side = Literal["for", "against", "neither"]
"""Which p-value is below 5 %: that for the claim, that against it, or neither."""
ALPHA = 0.05


class Finding(NamedTuple):
    """The evidence on one claim; `over_cases` makes a verdict of several."""

    id: str
    statement: str
    estimate: float
    interval: Interval | None
    """None where nothing was estimated (a fact)."""
    p_for: float
    """Small = the claim is shown. Of a fact 0 or 1; 1 where no seed has a value (n = 0)."""
    p_against: float
    """Small = the reverse is shown."""
    n: int
    note: str
    missing: int = 0
    """Seeds that lack a value on one side or on both, for instance because a run failed."""
    measure: str = ""
    unit: str = ""
    """Of the estimate and of the limits of its interval: `x` of a ratio."""
    is_fact: bool = False
    """Whether it was counted out and not tested: it is no member of any family."""
    results: str = ""
    """The sweep whose runs it rests on."""

    @property
    def side(self) -> Side:
        """Return the side that is shown, of this finding alone."""
        if self.p_for < ALPHA:
            return "for"
        return "against" if self.p_against < ALPHA else "neither"

    @property
    def is_tested(self) -> bool:
        """Return whether it is a member of its family: it is no fact, and has a value."""
        return not self.is_fact and self.n > 0

    @property
    def p_value(self) -> float | None:
        """Return the smaller p-value, that of the side which the data speak for; None of a fact and without a value."""
        return min(self.p_for, self.p_against) if self.is_tested else None


def superior(id: str, statement: str, comparison: PairedComparison) -> Finding:
    """Return the claim that the other policy is better: in size and in direction, where both are tested.

    Both must be shown, so the larger p-value is that of the claim. Against it: the policy is worse in both.

    Examples
    --------
    >>> from workbench.statistics.comparison import compare
    >>> superior("H1.1", "drains faster", compare([9, 8, 9, 7, 8, 9, 9], [7, 7, 6, 6, 6, 6, 7])).side
    'for'
    """
    one = comparison
    p_for, p_against = (max((p for p in _ps(one, side)), default=1.0) for side in (1, -1))
    unit = "x" if one.is_ratio else ""
    size, missing = one.size, len(one.missing)
    return Finding(id, statement, size.mean, size, p_for, p_against, one.n, one.sentence, missing, unit=unit)


def _ps(one: PairedComparison, side: int) -> list[float]:
    """Return the p-values of both tests for a side: 1 where the estimate is on the other."""
    sides = [one.size.mean - one.no_effect, one.wins - one.losses]
    both = zip((one.p_size, one.p_direction), sides, strict=True)
    tested = [(p, estimate) for p, estimate in both if not math.isnan(p)]
    if not one.is_sized:  # direction alone decides
        tested = tested[1:]
    return [p if estimate * side > 0 else 1.0 for p, estimate in tested]


def equivalent(id: str, statement: str, result: Equivalence) -> Finding:
    """Return the claim that a median lies within a band; p is that of the two one-sided tests.

    Examples
    --------
    >>> from workbench.statistics.equivalence import median_within
    >>> equivalent("H1.3", "costs nothing", median_within([0.1, -0.1, 0.0, 0.1, -0.1], (-1, 1))).side
    'for'
    """
    interval, (low, high) = result.interval, result.band
    note = f"median {interval} ({100 * interval.level:.4g} %) lies {result.place} the band {low:g} to {high:g}"
    p_for, p_against = (result.p_value, result.p_outside) if interval.n else (1.0, 1.0)
    return Finding(id, statement, interval.mean, interval, p_for, p_against, interval.n, note)


def fact(id: str, statement: str, true: bool, *, estimate: float = np.nan, n: int = 1, note: str = "") -> Finding:
    """Return a claim that is counted out, not sampled (a number of stages, an overlap of zero): no interval, no test.

    Examples
    --------
    >>> fact("H3.3", "takes log2(128) = 7 stages", (128).bit_length() - 1 == 7, estimate=7).side
    'for'
    """
    p_for, p_against = (0.0, 1.0) if true else (1.0, 0.0)
    if not n:
        p_for = p_against = 1.0
    return Finding(id, statement, estimate, None, p_for, p_against, n, note, is_fact=True)


def every(id: str, statement: str, parts: Sequence[Finding]) -> Finding:
    """Return the claim that all of several things hold; it shows the figures of the part that it stands or falls with.

    For it all parts must be shown, so the largest p-value is that of the whole (intersection-union test, Berger 1982).
    Against it one is enough, which must be told from luck: the smallest p-value times the number of tested parts
    (Bonferroni). A part without a value leaves p at 1 for the whole, and refutes nothing.

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
    _check(id, parts)
    p_for, p_against = max(part.p_for for part in parts), _any([part.p_against for part in parts], parts)
    weakest = min(parts, key=lambda part: part.p_against) if p_against < ALPHA else weakest_of(parts)
    return _joined(id, statement, parts, weakest, p_for, p_against)


def some(id: str, statement: str, parts: Sequence[Finding]) -> Finding:
    """Return the claim that at least one of several things holds; it shows the figures of the one that speaks for it
    most.

    The reverse of `every`: for it one part is enough, so the smallest p-value is times the number of tested parts.
    Against it all must be reversed, so the largest p-value counts. A part without a value may hold: it keeps the
    whole from being refuted.

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
    _check(id, parts)
    p_for, p_against = _any([part.p_for for part in parts], parts), max(part.p_against for part in parts)
    strongest = min(parts, key=lambda part: (part.p_for, -part.p_against, part.n == 0))
    return _joined(id, statement, parts, strongest, p_for, p_against)


def weakest_of(parts: Sequence[Finding]) -> Finding:
    """Return the part with the least evidence for it, which `every` stands or falls with; the first of equal ones."""
    return max(parts, key=lambda part: (part.n == 0, part.p_for, -part.p_against))


def _check(id: str, parts: Sequence[Finding]) -> None:
    if not parts:
        raise InputError(f"claim {id} must have at least one part. Got none.")


def _any(p_values: Sequence[float], parts: Sequence[Finding]) -> float:
    """Return the p-value that any of several tests shows; a fact costs no correction."""
    tested = [p for p, part in zip(p_values, parts, strict=True) if part.is_tested]
    certain = [p for p, part in zip(p_values, parts, strict=True) if part.is_fact]
    return min([1.0, len(tested) * min(tested, default=1.0), *certain])


def _joined(id: str, statement: str, parts: Sequence[Finding], of: Finding, p_for: float, p_against: float) -> Finding:
    note = "; ".join(f"{part.id} {part.statement}: {part.side}" for part in parts)
    is_fact = all(part.is_fact for part in parts)
    return of._replace(id=id, statement=statement, note=note, p_for=p_for, p_against=p_against, is_fact=is_fact)
