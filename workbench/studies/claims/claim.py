"""A claim of a source document, with the experiment that tests it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding, every

Parts = Callable[[Evidence], Sequence[Finding]]


def nothing(evidence: Evidence) -> Sequence[Finding]:
    """No costs are measured."""
    return []


class Claim(NamedTuple):
    """What a document asserts, and how it is put to the test."""

    id: str
    statement: str
    source: str
    """Where it is asserted."""
    parts: Parts
    """What the data say, case by case."""
    costs: Parts = nothing
    """What else became better or worse, measured beside it; no part of the verdict."""
    joined: Callable[[str, str, Sequence[Finding]], Finding] = every
    """How the cases make the claim: it holds when every case does, or when some case does."""

    @property
    def built_in(self) -> bool:
        """Whether it is part of this package."""
        return getattr(self.parts, "__module__", "workbench.").startswith("workbench.")

    def found(self, evidence: Evidence) -> tuple[Finding, list[Finding]]:
        """The claim as a whole, and its cases."""
        cases = list(self.parts(evidence))
        whole = self.joined(self.id, self.statement, cases) if len(cases) > 1 else cases[0]
        return whole._replace(id=self.id, statement=self.statement), cases
