"""The verdict on a claim over all of its cases.

Verdicts control errors on both sides. A claim holds when all cases are for it. Each must be shown, so the largest
p-value is that of the whole (intersection-union test, Berger 1982). The claim is contradicted when all cases are
against it. Holm's correction over the cases says whether it holds or fails in single cases. With a chance of at least
1 - alpha, no case is on the wrong side of the map. All of it is multiplied by the number of claims of the family.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from workbench.errors import InputError
from workbench.statistics.corrections import holm
from workbench.statistics.finding import Finding, Side
from workbench.statistics.interval import check_open

Word = Literal["holds", "holds_where", "undecided", "fails_where", "contradicted"]

WORDS: dict[Word, str] = {
    "holds": "in every case",
    "holds_where": "in some cases, and against it speaks none",
    "undecided": "nothing is shown",
    "fails_where": "in some case the reverse is shown",
    "contradicted": "in every case the reverse is shown",
}

Joined = Literal["every", "some"]


class OverCases(NamedTuple):
    """What becomes of a claim over its cases."""

    word: Word
    sides: tuple[Side, ...]
    """Of each case after correction: the map of where it holds."""
    decisive: int
    """The place of the case that the verdict stands or falls with; its measure, estimate, interval and p go
    together."""
    p_adjusted: float | None
    """Of the verdict, corrected over cases and claims; None where everything is counted."""


def over_cases(
    cases: Sequence[Finding], *, family: int = 1, joined: Joined = "every", alpha: float = 0.05
) -> OverCases:
    """Judge a claim by its cases.

    Parameters
    ----------
    cases : sequence of Finding
        All cases of the claim's design, in any order; facts are certain and cost no correction.
    family : int
        How many claims are tested together, those that were not run included: every p-value times so many (Bonferroni).
    joined : {"every", "some"}
        Whether the claim says that all cases hold, or that there is one that does.
    alpha : float
        Chance of any false verdict in the family, and of any case on the wrong side of a map.

    Raises
    ------
    InputError
        There is no case, or alpha is out of range.

    References
    ----------
    Holm (1979), Scand. J. Statist. 6; Berger (1982), Technometrics 24.

    Examples
    --------
    >>> from workbench.statistics import compare, superior
    >>> better = superior("a", "", compare([k + 9.0 for k in range(12)], [k % 5 for k in range(12)]))
    >>> equal = superior("b", "", compare([1, 2, 3, 4] * 3, [2, 1, 4, 3] * 3))
    >>> [over_cases(cases).word for cases in ([better, better], [better, equal], [equal])]
    ['holds', 'holds_where', 'undecided']
    """
    check_open(alpha, "alpha")
    if not cases:
        raise InputError("a claim must have at least one case. Got none.")
    both = [(case.p_for, case.p_against) for case in cases]
    adjusted = _adjusted(cases, both, family)
    sides: list[Side] = [_side(*pair, adjusted[k] < alpha) for k, pair in enumerate(both)]
    for whole, side in ((0, "for"), (1, "against")):
        if family * max(pair[whole] for pair in both) < alpha:
            sides = [side] * len(cases)  # type: ignore[list-item]
    word = _every(sides) if joined == "every" else _some(sides)
    decisive = _decisive(word, cases, sides, both, joined)
    return OverCases(word, tuple(sides), decisive, _p_of(word, cases, both, adjusted, decisive, family, joined))


def _adjusted(cases: Sequence[Finding], both: Sequence[tuple[float, float]], family: int) -> dict[int, float]:
    """Return the p-value of each case for the side that it speaks for, Holm-corrected over the cases, times the
    family."""
    tested = {k: min(pair) for k, pair in enumerate(both) if cases[k].is_tested}
    certain = {k: min(pair) for k, pair in enumerate(both) if k not in tested}
    return {**certain, **{k: min(1.0, family * p) for k, p in holm(tested).items()}}


def _side(p_for: float, p_against: float, clear: bool) -> Side:
    if not clear or p_for == p_against:
        return "neither"
    return "for" if p_for < p_against else "against"


def _every(sides: Sequence[Side]) -> Word:
    if set(sides) == {"for"}:
        return "holds"
    if set(sides) == {"against"}:
        return "contradicted"
    return "fails_where" if "against" in sides else "holds_where" if "for" in sides else "undecided"


def _some(sides: Sequence[Side]) -> Word:
    if "for" in sides:
        return "holds"
    return "contradicted" if set(sides) == {"against"} else "undecided"


def _decisive(
    word: Word, cases: Sequence[Finding], sides: Sequence[Side], both: Sequence[tuple[float, float]], joined: Joined
) -> int:
    """Return the weakest case of what must be shown of all; the strongest of what some case is enough for, a tested
    one."""
    places = range(len(both))
    if word == "contradicted":
        return max(places, key=lambda k: (both[k][1], not cases[k].n))
    if word == "fails_where" or word == "holds_where" or (joined == "some" and word == "holds"):
        side: Side = "against" if word == "fails_where" else "for"
        decided = [k for k in places if sides[k] == side]
        return min(decided, key=lambda k: (not cases[k].is_tested, min(both[k])))
    if joined == "some":
        return min(places, key=lambda k: both[k][0])
    return max(places, key=lambda k: (both[k][0], not cases[k].n))


def _p_of(
    word: Word,
    cases: Sequence[Finding],
    both: Sequence[tuple[float, float]],
    adjusted: dict[int, float],
    decisive: int,
    family: int,
    joined: Joined,
) -> float | None:
    if all(case.is_fact for case in cases):
        return None
    if word in ("fails_where", "holds_where") or (joined == "some" and word != "contradicted"):
        return adjusted[decisive] if cases[decisive].is_tested else None
    return min(1.0, family * both[decisive][1 if word == "contradicted" else 0])
