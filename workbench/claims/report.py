"""What became of claims: verdicts and the cases behind them, as tables and as text.

An outcome is one claim as it came out: the verdict, and one case's measure, unit, estimate, interval and p.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.claims.claim import Claim, Kind
from workbench.number_text import number, probability, with_limits
from workbench.palette import BAD_WORDS, GOOD_WORDS
from workbench.statistics import WORDS, Finding, OverCases, Side, Word
from workbench.statistics.result_card import short_text

if TYPE_CHECKING:
    import pandas as pd


FAILED = "failed"
"""The verdict of a claim that raised instead of giving its cases."""
Verdict = Word | Literal["failed"]
FIGURES = ("measure", "unit", "statistic", "estimate", "low", "high", "p_for", "p_against", "n", "missing")
"""The columns of one case; both p-values are of the case alone, and a case that is counted has none."""
_CHANGE = {"for": "gains", "against": "costs", "neither": "or not"}
"""The values of a measure next to a claim."""

IN_THE_WORLD: dict[Verdict, str] = {"holds": "yes", "contradicted": "no", "fails_where": "no"}
"""The word of 0.4 for a verdict; any other is `undecided`."""


class Outcome(NamedTuple):
    """What became of a claim."""

    claim: Claim
    over_cases: OverCases | None
    """None where the claim failed."""
    cases: list[Finding]
    costs: list[Finding]
    """What else became better (`for`) or worse (`against`) with it, no part of the verdict."""
    family_size: int
    problem: str = ""
    """The sentence of what a claim that failed raised."""

    @property
    def id(self) -> str:
        """Return the claim's number in its specification."""
        return self.claim.id

    @property
    def verdict(self) -> Verdict:
        """Return one of holds, holds_where, undecided, fails_where, contradicted, failed."""
        return self.over_cases.word if self.over_cases is not None else "failed"

    @property
    def holds(self) -> str:
        """Return the verdict in 0.4's words: yes, no or undecided."""
        return IN_THE_WORLD.get(self.verdict, "undecided")

    @property
    def kind(self) -> Kind:
        """Return the kind of proof: tested by runs, counted, or true by construction."""
        return self.claim.kind

    @property
    def decisive_case(self) -> Finding | None:
        """Return the case that the verdict stands or falls with; None where the claim failed."""
        return self.cases[self.over_cases.decisive] if self.over_cases is not None else None

    @property
    def p_adjusted(self) -> float | None:
        """Return the p-value adjusted over the cases of the claim and the claims of the family."""
        return self.over_cases.p_adjusted if self.over_cases is not None else None

    @property
    def sides(self) -> Sequence[Side]:
        """Return the side of each case, after correction."""
        return self.over_cases.sides if self.over_cases is not None else ()

    def __repr__(self) -> str:
        """Return the verdict with its cases in 80 columns and 30 lines, as `print` shows it."""
        return short_text(claim_lines(self), "outcome.case_rows()")

    def _repr_html_(self) -> str:
        return f"<pre>{escape(chr(10).join(claim_lines(self)))}</pre>"

    @property
    def counts(self) -> dict[Side, int]:
        """Return the number of cases for it, against it, and neither, after correction."""
        return {side: self.sides.count(side) for side in ("for", "against", "neither")}

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
            "case": self.decisive_case.id if self.decisive_case is not None else None,
            **_figures_of(self.decisive_case),
            "p_adjusted": self.p_adjusted,
            **more,
            "problem": self.problem,
        }

    def case_rows(self) -> list[dict[str, Any]]:
        """Return one row a case and one a cost, with the side after correction; a cost is not corrected."""
        cases = zip(self.cases, self.sides, strict=True)
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


def _figures_of(case: Finding | None) -> dict[str, Any]:
    if case is None:
        return dict.fromkeys(FIGURES)
    low, high = (case.interval.low, case.interval.high) if case.interval else (None, None)
    both = (case.p_for, case.p_against) if case.is_tested else (None, None)
    figures = (case.measure, case.unit, statistic_of(case), case.estimate, low, high, *both, case.n, case.missing)
    return dict(zip(FIGURES, figures, strict=True))


def statistic_of(case: Finding) -> str:
    """Return the kind of a case's estimate: a share, a geometric mean, a mean or a median; nothing of what is
    counted."""
    if case.interval is None:
        return ""
    if case.interval.method in ("clopper_pearson", "holm"):
        return "share"
    if case.interval.method == "geometric":
        return "geometric mean of ratios"
    return "mean" if case.interval.method in ("t", "constant", "infinite") else "median"


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
    heading: Sequence[str] = ()
    """What there is to say of the whole: the families, and whether it is indicative."""

    @property
    def table(self) -> pd.DataFrame:
        """Return one row a claim; measure, unit, estimate, low, high and both p are of the case named, `holds`
        is 0.4's word."""
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
        return "\n".join([*self.heading, *(line for one in self.verdicts for line in claim_lines(one))])

    @property
    def by_verdict(self) -> list[str]:
        """Return a line a family: its claims under their verdicts."""
        families = dict.fromkeys(one.claim.family for one in self.verdicts)
        return [f"{name}  {self._of_family(name)}" for name in families]

    def _of_family(self, name: str) -> str:
        came = {
            word: [one.id for one in self.verdicts if (one.claim.family, one.verdict) == (name, word)]
            for word in (*WORDS, FAILED)
        }
        return "; ".join(f"{word.replace('_', ' ')}: {', '.join(ids)}" for word, ids in came.items() if ids)

    @property
    def markdown(self) -> str:
        """Return the verdicts as a table of a README."""
        rows = [
            f"| {one.id} | {one.claim.statement} | {_word(one)} | {one.kind} | {_decisive_text(one)} |"
            for one in self.verdicts
        ]
        head = ["| claim | it says | verdict | kind | shown |", "| --- | --- | --- | --- | --- |"]
        return "\n".join([*head, *rows]) + "\n"

    def __repr__(self) -> str:
        """Return a line a claim in 80 columns and 30 lines, as `print` shows it; `text` has the cases too."""
        return short_text([*self.heading, *map(claim_line, self.verdicts)], "report.text")

    def _repr_html_(self) -> str:
        heading = "".join(f"<div>{escape(line)}</div>" for line in self.heading)
        names = "".join(f"<th>{name}</th>" for name in ("claim", "it says", "verdict", "kind", "shown"))
        body = "".join(_html_row(one) for one in self.verdicts)
        return f"{heading}<table><thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>"


_COLORS = {"holds": GOOD_WORDS, "contradicted": BAD_WORDS, "fails_where": BAD_WORDS, FAILED: BAD_WORDS}


def _html_row(one: Outcome) -> str:
    color = f' style="color:{_COLORS[one.verdict]}"' if one.verdict in _COLORS else ""
    words = (one.claim.statement, _word(one).lower(), one.kind.replace("_", " "), _decisive_text(one))
    statement, verdict, kind, text = map(escape, words)
    cells = f"<td>{statement}</td><td{color}><b>{verdict}</b></td><td>{kind}</td><td>{text}</td>"
    return f"<tr><td>{escape(one.id)}</td>{cells}</tr>"


def claim_line(one: Outcome) -> str:
    """Return a verdict in one line; of a claim that failed the sentence of what it raised."""
    kind = "" if one.kind == "tested" else f" [{one.kind.replace('_', ' ')}]"
    opening = f"{one.id:<7}{_word(one):<14} {one.claim.statement}{kind}"
    case = one.decisive_case
    if case is None:
        return f"{opening}: {one.problem}"
    adjusted = f", adjusted p {_p(one.p_adjusted)}" if one.p_adjusted is not None else ""
    return f"{opening} ({_map(one)}{_counted(case)}{adjusted})"


def claim_lines(one: Outcome) -> list[str]:
    """Return a verdict with its cases and costs, a line each."""
    sides = zip(one.cases, one.sides, strict=True)
    cases = [f"      {side:<8} {case.id}: {_figures_text(case, side)}" for case, side in sides]
    return [
        claim_line(one),
        *cases,
        *(f"      {_CHANGE[cost.side]:<8} {cost.id}: {_figures_text(cost, cost.side)}" for cost in one.costs),
    ]


def _word(one: Outcome) -> str:
    return one.verdict.upper().replace("_", " ")


def _map(one: Outcome) -> str:
    counts = one.counts
    return f"{counts['for']} cases for, {counts['against']} against, {counts['neither']} neither; "


def _decisive_text(one: Outcome) -> str:
    case = one.decisive_case
    if case is None:
        return one.problem
    if case.interval is None:
        return case.id
    return f"{case.id}: {case.measure} {_estimate_of(case)}"


def _figures_text(case: Finding, side: Side) -> str:
    if case.interval is None or not case.n:
        return case.note
    lacking = f"; {case.missing} seed{'s' * (case.missing > 1)} without a pair" if case.missing else ""
    p = p_text(case.p_for, case.p_against, side) if case.is_tested else ""
    return f"{_estimate_of(case)}{p} ({case.statement}{lacking})"


def estimate_text(statistic: str, estimate: float, low: float | None, high: float | None, unit: str) -> str:
    """Return an estimate with the name of its statistic, its interval and its unit.

    >>> estimate_text("geometric mean of ratios", 1.058, 1.049, 1.067, "x")
    '1.058x [1.049, 1.067]'
    >>> estimate_text("mean", 13.39, 10.03, 16.75, "cycles"), estimate_text("median", 0.6392, None, None, "")
    ('mean 13 [10, 17] cycles', 'median 0.6392')
    """
    text = number(estimate) if low is None or high is None else with_limits(estimate, low, high)
    if unit == "x":
        value, gap, limits = text.partition(" ")
        return f"{value}x{gap}{limits}"
    return f"{statistic} {text} {unit}".strip()


def p_text(p_for: float, p_against: float, side: Side) -> str:
    """Return the p of the side that is shown, of both where neither is.

    >>> p_text(0.004, 1.0, "for"), p_text(0.3, 1.0, "neither")
    (', p = 0.004', ', p = 0.3 for, 1 against')
    """
    if side == "neither":
        return f", p {_p(p_for)} for, {probability(p_against)} against"
    return f", p {_p(p_for if side == 'for' else p_against)}"


def _p(p: float) -> str:
    text = probability(p)
    return text if text.startswith("<") else f"= {text}"


def _estimate_of(case: Finding) -> str:
    low, high = (case.interval.low, case.interval.high) if case.interval else (None, None)
    return estimate_text(statistic_of(case), case.estimate, low, high, case.unit)


def _counted(case: Finding) -> str:
    if not case.n:
        return "n = 0: no seed has a value on both sides, so nothing is tested"
    return f"n = {case.n}" + (f", {case.missing} seed{'s' * (case.missing > 1)} without a pair" if case.missing else "")
