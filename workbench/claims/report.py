"""What became of claims: verdicts and the cases behind them, as tables and as text.

An outcome is one claim as it came out: the verdict, and one case's measure, unit, estimate, interval and p beside it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.claims.claim import Claim, Kind
from workbench.statistics import Finding, OverCases, Side, Word

if TYPE_CHECKING:
    import pandas as pd


HAVE_P = ("tested", "measured")
"""The kinds of claim that are members of a family."""
_CHANGE = {"for": "gains", "against": "costs", "neither": "or not"}
"""What a measure beside a claim did."""

IN_THE_WORLD: dict[Word, str] = {"holds": "yes", "contradicted": "no", "fails_where": "no"}
"""The word of 0.4 for a verdict; any other is `undecided`."""


class Outcome(NamedTuple):
    """What became of a claim."""

    claim: Claim
    over_cases: OverCases
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
        return self.over_cases.word

    @property
    def holds(self) -> str:
        """Return the verdict in 0.4's words: yes, no or undecided."""
        return IN_THE_WORLD.get(self.verdict, "undecided")

    @property
    def kind(self) -> Kind:
        """Return how it was shown: tested by runs, counted, or true by construction."""
        return self.claim.kind

    @property
    def decisive_case(self) -> Finding:
        """Return the case that the verdict stands or falls with."""
        return self.cases[self.over_cases.decisive]

    @property
    def p_adjusted(self) -> float | None:
        """Return the p-value adjusted over the cases of the claim and the claims of the family."""
        return self.over_cases.p_adjusted

    @property
    def counts(self) -> dict[Side, int]:
        """Return how many cases are for it, against it, and neither, after correction."""
        return {side: self.over_cases.sides.count(side) for side in ("for", "against", "neither")}

    def row(self) -> dict[str, Any]:
        """Return the claim as one row: every figure is of the decisive case."""
        counts = {f"cases_{side}": number for side, number in self.counts.items()}
        settings = {
            "id": self.claim.verdict_id,
            "statement": self.claim.statement,
            "verdict": self.verdict,
            "kind": self.kind,
        }
        more = {"family": self.claim.family, "family_size": self.family_size, **counts}
        return {
            **settings,
            "case": self.decisive_case.id,
            **_figures_of(self.decisive_case),
            "p_adjusted": self.p_adjusted,
            **more,
        }

    def case_rows(self) -> list[dict[str, Any]]:
        """Return one row a case and one a cost, with the side after correction; a cost is not corrected."""
        cases = zip(self.cases, self.over_cases.sides, strict=True)
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
        return {**row, **_figures_of(case), "results": case.results, "note": case.note}


def _figures_of(case: Finding) -> dict[str, Any]:
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


class ClaimReport(NamedTuple):
    """Claims judged together, as they came out."""

    verdicts: list[Outcome]
    seeds: int = 0
    quick: bool = False
    """Whether it is indicative: few seeds, of which a full run may say something else."""

    @property
    def table(self) -> pd.DataFrame:
        """Return one row a claim; measure, unit, estimate, low, high and p are of the case named, `holds` is 0.4's
        word."""
        import pandas as pd

        return pd.DataFrame([{**one.row(), "holds": one.holds} for one in self.verdicts])

    @property
    def case_table(self) -> pd.DataFrame:
        """Return one row a case of a claim, and one a cost."""
        import pandas as pd

        return pd.DataFrame([row for one in self.verdicts for row in one.case_rows()])

    def plain(self) -> list[dict[str, Any]]:
        """Return the report as `workbench claims --json` prints it."""
        return [one.plain() for one in self.verdicts]

    @property
    def text(self) -> str:
        """Return the verdicts with their cases, for reading."""
        return "\n".join([*self.heading, *(line for one in self.verdicts for line in _lines(one))])

    @property
    def short(self) -> str:
        """Return the verdicts, a line each."""
        return "\n".join([*self.heading, *(_line(one) for one in self.verdicts)])

    @property
    def heading(self) -> list[str]:
        """Return what there is to say of the whole: the families, and how many of their members were not run."""
        run: dict[str, int] = {}
        sizes = {one.claim.family: one.family_size for one in self.verdicts if one.kind in HAVE_P}
        for one in self.verdicts:
            run[one.claim.family] = run.get(one.claim.family, 0) + (one.kind in HAVE_P)
        sentences = [
            f"{name}: every p-value times {size}, the tested claims of the family"
            + (f", of which {size - run[name]} were not run" if size > run[name] else "")
            for name, size in sizes.items()
        ]
        quick = (
            [f"indicative: {self.seeds} seeds a comparison; a verdict needs a full run, with the real service"]
            if self.quick
            else []
        )
        return [*quick, *sentences]

    @property
    def markdown(self) -> str:
        """Return the verdicts as a table of a README."""
        rows = [
            f"| {one.id} | {one.claim.statement} | {_word(one)} | {one.kind} | {_decisive_text(one)} |"
            for one in self.verdicts
        ]
        head = ["| claim | it says | verdict | kind | shown |", "| --- | --- | --- | --- | --- |"]
        return "\n".join([*head, *rows]) + "\n"

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False))


def _line(one: Outcome) -> str:
    adjusted = f", adjusted p = {one.p_adjusted:.2g}" if one.p_adjusted is not None else ""
    counted = _counted(one.decisive_case)
    kind = "" if one.kind == "tested" else f" [{one.kind.replace('_', ' ')}]"
    return f"{one.id:<7}{_word(one):<14} {one.claim.statement}{kind} ({_map(one)}{counted}{adjusted})"


def _lines(one: Outcome) -> list[str]:
    sides = zip(one.cases, one.over_cases.sides, strict=True)
    cases = [f"      {side:<8} {case.id}: {_figures_text(case)}" for case, side in sides]
    return [
        _line(one),
        *cases,
        *(f"      {_CHANGE[cost.side]:<8} {cost.id}: {_figures_text(cost)}" for cost in one.costs),
    ]


def _word(one: Outcome) -> str:
    return one.verdict.upper().replace("_", " ")


def _map(one: Outcome) -> str:
    counts = one.counts
    return f"{counts['for']} cases for, {counts['against']} against, {counts['neither']} neither; "


def _decisive_text(one: Outcome) -> str:
    case = one.decisive_case
    if case.interval is None:
        return case.id
    unit = f" {case.unit}" if case.unit else ""
    return f"{case.id}: {case.measure} {case.interval}{unit}"


def _figures_text(case: Finding) -> str:
    if case.interval is None or not case.n:
        return case.note
    tested = f", p = {case.p_value:.2g}" if case.p_value is not None else ""
    lacking = f"; {case.missing} seeds without a pair" if case.missing else ""
    unit = f" {case.unit}" if case.unit else ""
    return f"{case.interval}{unit}{tested} ({case.statement}{lacking})"


def _counted(case: Finding) -> str:
    if not case.n:
        return "n = 0: no seed has a value on both sides, so nothing is tested"
    return f"n = {case.n}" + (f", {case.missing} seeds without a pair" if case.missing else "")
