"""One claim as it came out: the verdict, and one case's measure, unit, estimate, interval and p beside it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from workbench.studies.claims.claim import Claim, Kind
from workbench.studies.statistics import Finding, OverCases, Side, Word

IN_THE_WORLD: dict[Word, str] = {"holds": "yes", "contradicted": "no", "fails_where": "no"}
"""The word of 0.4 for a verdict; any other is `undecided`."""


class Outcome(NamedTuple):
    """What became of a claim."""

    claim: Claim
    found: OverCases
    cases: list[Finding]
    costs: list[Finding]
    """What else became better (`for`) or worse (`against`) with it, no part of the verdict."""
    family_size: int

    @property
    def id(self) -> str:
        """Return the claim's number in its specification."""
        return self.claim.id

    @property
    def verdict(self) -> Word:
        """Return one of holds, holds_where, undecided, fails_where, contradicted."""
        return self.found.word

    @property
    def holds(self) -> str:
        """Return the verdict in 0.4's words: yes, no or undecided."""
        return IN_THE_WORLD.get(self.verdict, "undecided")

    @property
    def kind(self) -> Kind:
        """Return how it was shown: tested by runs, counted, or true by construction."""
        return self.claim.kind

    @property
    def shown(self) -> Finding:
        """Return the case that the verdict stands or falls with."""
        return self.cases[self.found.shown]

    @property
    def p_adjusted(self) -> float | None:
        """Return the p-value adjusted over the cases of the claim and the claims of the family."""
        return self.found.p_adjusted

    @property
    def counts(self) -> dict[Side, int]:
        """Return how many cases are for it, against it, and neither, after correction."""
        return {side: self.found.sides.count(side) for side in ("for", "against", "neither")}

    def row(self) -> dict[str, Any]:
        """Return the claim as one row: every figure is of the case shown."""
        counts = {f"cases_{side}": number for side, number in self.counts.items()}
        settings = {
            "id": self.claim.verdict_id,
            "statement": self.claim.statement,
            "verdict": self.verdict,
            "kind": self.kind,
        }
        more = {"family": self.claim.family, "family_size": self.family_size, **counts}
        return {**settings, "case": self.shown.id, **_figures(self.shown), "p_adjusted": self.p_adjusted, **more}

    def case_rows(self) -> list[dict[str, Any]]:
        """Return one row a case and one a cost, with the side after correction; a cost is not corrected."""
        cases = zip(self.cases, self.found.sides, strict=True)
        rows = [self._case_row("case", case, side) for case, side in cases]
        return rows + [self._case_row("cost", cost, cost.side) for cost in self.costs]

    def plain(self) -> dict[str, Any]:
        """Return the claim as `workbench claims --json` gives it."""
        used = dict.fromkeys(case.results for case in (*self.cases, *self.costs) if case.results)
        cases = [{key: value for key, value in row.items() if key != "claim"} for row in self.case_rows()]
        config = {**self.row(), "source": self.claim.source, "design": self.claim.design}
        return _plain({**config, "holds": self.holds, "cases": cases, "results": list(used)})

    def _case_row(self, part: str, case: Finding, side: Side) -> dict[str, Any]:
        row = {"claim": self.id, "part": part, "case": case.id, "statement": case.statement, "side": side}
        return {**row, **_figures(case), "results": case.results, "note": case.note}


def _figures(case: Finding) -> dict[str, Any]:
    low, high = (case.interval.low, case.interval.high) if case.interval else (None, None)
    counts = {"n": case.n, "missing": case.missing}
    ends = {"estimate": case.estimate, "low": low, "high": high}
    return {"measure": case.measure, "unit": case.unit, **ends, "p": case.p_value, **counts}


def _plain(value: Any) -> Any:
    """Replace NaN and infinity, which JSON has not, by null."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
