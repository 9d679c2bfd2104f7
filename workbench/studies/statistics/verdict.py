"""Does a claim hold? The outcome as a value, reported as it comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from workbench.errors import InputError
from workbench.studies.statistics.family import holm
from workbench.studies.statistics.finding import Finding
from workbench.studies.statistics.interval import Interval
from workbench.studies.statistics.sample import check_open


class Verdict(NamedTuple):
    """A claim with its outcome."""

    id: str
    statement: str
    holds: Literal["yes", "no", "undecided"]
    estimate: float
    interval: Interval | None
    """None for a fact, which is counted out and not sampled."""
    p_value: float | None
    p_adjusted: float | None
    """After Holm's correction over all tested claims that were judged together."""
    n: int
    note: str
    missing: int = 0
    """Seeds without a value on one side or on both."""


def judge(findings: Sequence[Finding], *, alpha: float = 0.05) -> list[Verdict]:
    """Judge a family of claims together, in the order given.

    `yes`: the interval is clear on the claimed side and the adjusted p-value is below alpha.
    `no`: the interval is clear on the other side (for equivalence: entirely outside the band), and so is its adjusted
    p-value. Either is as rare as the other where there is nothing to find.
    `undecided`: anything else. Facts are yes or no by themselves and take no part in the correction; no more do claims
    that rest on no value at all, because every run failed.

    With alpha 0.05, families in which no effect differs from zero hold any `yes` in at most 2.5 % of all studies and
    any `yes` or `no` in at most 5 %; an estimate outside its band comes out as equivalent in at most 5 %.

    Parameters
    ----------
    findings : sequence of Finding
        All claims of one study: leaving the failed ones out would make the others look better than they are.
    alpha : float
        Chance of any false `yes` or `no` in the family, 0 < alpha < 1; the intervals should be of level 1 - alpha (1
        - 2 alpha for equivalence).

    Raises
    ------
    InputError
        Two findings of one id, or alpha out of range.

    References
    ----------
    spec 1, section 6 (common design).

    Examples
    --------
    >>> from workbench.studies.statistics.finding import superior
    >>> from workbench.studies.statistics.paired import compare
    >>> slow, fast = [9, 8, 9, 7, 8, 9], [7, 7, 6, 6, 6, 7]
    >>> claims = [superior("A", "faster", compare(slow, fast)), superior("B", "slower", compare(fast, slow))]
    >>> [(v.id, v.holds, v.p_adjusted) for v in judge(claims)]
    [('A', 'undecided', 0.0625), ('B', 'undecided', 0.0625)]
    """
    check_open(alpha, "alpha")
    twice = [id for id, times in Counter(finding.id for finding in findings).items() if times > 1]
    if twice:
        raise InputError(f"a family of claims must have every claim once. Got {twice[0]} twice.")
    adjusted = holm({finding.id: _decisive(finding) for finding in findings if finding.p_value is not None})
    return [_judged(finding, adjusted.get(finding.id), alpha) for finding in findings]


def _decisive(finding: Finding) -> float:
    """Return the p-value of the side on which the finding lies."""
    return float(
        finding.both_p[1] if finding.side == "against" and finding.p_against is not None else finding.p_value or 0
    )


def _judged(finding: Finding, p_adjusted: float | None, alpha: float) -> Verdict:
    id, statement, side, estimate, interval, p_value, n, note, missing = finding[:9]
    holds: Literal["yes", "no", "undecided"] = "undecided"
    decided = p_adjusted is None or p_adjusted < alpha
    if side == "against" and decided:
        holds = "no"
    elif side == "for" and decided:
        holds = "yes"
    elif side != "neither":
        note = f"{note}; adjusted p = {p_adjusted:.2g} is not below {alpha:g}"
    return Verdict(id, statement, holds, estimate, interval, p_value, p_adjusted, n, note, missing)
