"""A claim of a source document, with the experiment that tests it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from workbench.studies.claims.evidence import Evidence
from workbench.studies.statistics import Finding, OverCases, every, over_cases, some

Parts = Callable[[Evidence], Sequence[Finding]]
Kind = Literal["tested", "counted", "by_construction", "measured"]
KINDS: dict[Kind, str] = {
    "tested": "by runs at paired seeds: the verdict has an error rate",
    "counted": "counted out, such as gates or chances: nothing is drawn, and nothing can differ by luck",
    "measured": "by the clock, in blocks, on the machine that ran it: no simulation, and another machine may differ",
    "by_construction": "true by the definitions of the model: it says that the model does what it was built to do",
}


def nothing(evidence: Evidence) -> Sequence[Finding]:
    """Return no costs: none are measured."""
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
    kind: Kind = "tested"
    design: str = ""
    """Over which cases of its family it is judged."""
    on_real_service: bool = False
    """Whether it starts the storage service and its clients, which a quick report leaves out."""
    slow: bool = False
    """Whether its runs take minutes even with few seeds: a quick report of all claims leaves it out, too."""
    mark: str = ""
    """What is behind its number in a verdict, where the question has changed since another was given: `-range`."""

    @property
    def built_in(self) -> bool:
        """Return whether it is part of this package."""
        return getattr(self.parts, "__module__", "workbench.").startswith("workbench.")

    @property
    def verdict_id(self) -> str:
        """Return the number under which its verdict is kept: another question, or another estimand, is another verdict.

        0.5 judged means; what is tested since is the median (`H1.1-median`).
        """
        is_tested = self.built_in and self.kind in ("tested", "measured")
        return f"{self.id}{self.mark or ('-median' if is_tested else '')}"

    @property
    def family(self) -> str:
        """Return the claims that it is corrected with: those of its specification (`H3`), or the user's own."""
        match = re.match(r"H\d+(?=\.)", self.id)
        return match[0] if match else "own"

    def found(self, evidence: Evidence) -> tuple[Finding, list[Finding]]:
        """Find the claim as a whole, and its cases."""
        cases = list(self.parts(evidence))
        whole = self.joined(self.id, self.statement, cases) if len(cases) > 1 else cases[0]
        return whole._replace(id=self.id, statement=self.statement), cases

    def judged(self, cases: Sequence[Finding], size: int) -> OverCases:
        """Return what becomes of it, corrected over its cases and the size of its family."""
        return over_cases(cases, family=size, joined="some" if self.joined is some else "every")
