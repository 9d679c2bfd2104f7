"""A claim of a source document, with the experiment that tests it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding, every


class Claim(NamedTuple):
    """What a document asserts, and how it is put to the test."""

    id: str
    statement: str
    source: str
    """Where it is asserted."""
    parts: Callable[[Evidence], Sequence[Finding]]
    """What the data say, case by case; the claim holds when every case does."""

    def found(self, evidence: Evidence) -> tuple[Finding, list[Finding]]:
        """The claim as a whole, and its cases."""
        cases = list(self.parts(evidence))
        whole = every(self.id, self.statement, cases) if len(cases) > 1 else cases[0]
        return whole._replace(id=self.id, statement=self.statement), cases
