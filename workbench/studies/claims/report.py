"""What became of claims: verdicts, the cases behind them, as tables and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.studies.claims.outcome import Outcome
from workbench.studies.statistics import Finding

if TYPE_CHECKING:
    import pandas as pd


HAVE_P = ("tested", "measured")
"""The kinds of claim that are members of a family."""
_CHANGE = {"for": "gains", "against": "costs", "neither": "or not"}
"""What a measure beside a claim did."""


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
            f"| {one.id} | {one.claim.statement} | {_word(one)} | {one.kind} | {_shown(one)} |" for one in self.verdicts
        ]
        head = ["| claim | it says | verdict | kind | shown |", "| --- | --- | --- | --- | --- |"]
        return "\n".join([*head, *rows]) + "\n"

    def _repr_html_(self) -> str:
        return str(self.table.to_html(index=False))


def _line(one: Outcome) -> str:
    adjusted = f", adjusted p = {one.p_adjusted:.2g}" if one.p_adjusted is not None else ""
    counted = _counted(one.shown)
    kind = "" if one.kind == "tested" else f" [{one.kind.replace('_', ' ')}]"
    return f"{one.id:<7}{_word(one):<14} {one.claim.statement}{kind} ({_map(one)}{counted}{adjusted})"


def _lines(one: Outcome) -> list[str]:
    sides = zip(one.cases, one.found.sides, strict=True)
    cases = [f"      {side:<8} {case.id}: {_figures(case)}" for case, side in sides]
    return [_line(one), *cases, *(f"      {_CHANGE[cost.side]:<8} {cost.id}: {_figures(cost)}" for cost in one.costs)]


def _word(one: Outcome) -> str:
    return one.verdict.upper().replace("_", " ")


def _map(one: Outcome) -> str:
    counts = one.counts
    return f"{counts['for']} cases for, {counts['against']} against, {counts['neither']} neither; "


def _shown(one: Outcome) -> str:
    case = one.shown
    if case.interval is None:
        return case.id
    unit = f" {case.unit}" if case.unit else ""
    return f"{case.id}: {case.measure} {case.interval}{unit}"


def _figures(case: Finding) -> str:
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
