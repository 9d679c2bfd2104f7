"""What every claim must give: cases with a name each, of all seeds or counted, that say what they are."""

from __future__ import annotations

from workbench.claims.claim import Claim, Evidence
from workbench.statistics import Finding


def told_apart(claim: Claim, evidence: Evidence, seeds: int) -> list[Finding]:
    """Return the cases of a claim, after looking at them and its costs."""
    cases = list(claim.parts(evidence))
    names = [case.id for case in [*cases, *claim.costs(evidence)]]
    assert len(set(names)) == len(names)
    assert all(case.n in (1, seeds - case.missing) or not case.is_tested for case in cases)
    assert all(case.measure and case.statement and case.note for case in cases)
    return cases
