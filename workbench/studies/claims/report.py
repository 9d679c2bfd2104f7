"""What became of claims: verdicts, the cases behind them, as tables and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from workbench.studies.statistics import Finding, Verdict

if TYPE_CHECKING:
    import pandas as pd


_CHANGE = {"for": "gains", "against": "costs", "neither": "or not"}
"""What a measure beside a claim did."""


class ClaimReport(NamedTuple):
    """Claims judged together, as they came out."""

    verdicts: list[Verdict]
    cases: dict[str, list[Finding]]
    """What the data say in each case of each claim."""
    costs: dict[str, list[Finding]]
    """What else became better (`for`) or worse (`against`) with it, no part of the verdict."""

    @property
    def table(self) -> pd.DataFrame:
        """One row a claim."""
        import pandas as pd

        return pd.DataFrame([_verdict_row(verdict) for verdict in self.verdicts])

    @property
    def case_table(self) -> pd.DataFrame:
        """One row a case of a claim, and one a cost."""
        import pandas as pd

        return pd.DataFrame(
            {"claim": claim, "part": part, **_case_row(case)}
            for claim in self.cases
            for part, found in (("case", self.cases[claim]), ("cost", self.costs[claim]))
            for case in found
        )

    @property
    def text(self) -> str:
        """The verdicts with their cases, for reading."""
        lines: list[str] = []
        for verdict in self.verdicts:
            adjusted = f", adjusted p = {verdict.p_adjusted:.2g}" if verdict.p_adjusted is not None else ""
            counted = _counted(verdict)
            lines.append(f"{verdict.id}  {verdict.holds.upper():<9} {verdict.statement} ({counted}{adjusted})")
            lines.extend(f"      {case.side:<8} {case.id}: {_figures(case)}" for case in self.cases[verdict.id])
            lines.extend(
                f"      {_CHANGE[cost.side]:<8} {cost.id}: {_figures(cost)}" for cost in self.costs[verdict.id]
            )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False))


def _figures(case: Finding) -> str:
    if case.interval is None or not case.n:
        return case.note
    tested = f", p = {case.p_value:.2g}" if case.p_value is not None else ""
    lacking = f"; {case.missing} seeds without a pair" if case.missing else ""
    return f"{case.interval}{tested} ({case.statement}{lacking})"


def _counted(verdict: Verdict) -> str:
    if not verdict.n:
        return "n = 0: no seed has a value on both sides, so nothing is tested"
    return f"n = {verdict.n}" + (f", {verdict.missing} seeds without a pair" if verdict.missing else "")


def _verdict_row(verdict: Verdict) -> dict[str, object]:
    said = {"id": verdict.id, "statement": verdict.statement, "holds": verdict.holds}
    return {**said, **_numbers(verdict), "p_holm": verdict.p_adjusted, "note": verdict.note}


def _case_row(case: Finding) -> dict[str, object]:
    said = {"case": case.id, "statement": case.statement, "side": case.side}
    return {**said, **_numbers(case), "note": case.note}


def _numbers(found: Verdict | Finding) -> dict[str, object]:
    low, high = (found.interval.low, found.interval.high) if found.interval else (None, None)
    counts = {"n": found.n, "missing": found.missing}
    return {"estimate": found.estimate, "low": low, "high": high, "p": found.p_value, **counts}
