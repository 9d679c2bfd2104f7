"""A page for every claim: what a document asserts, how it was put to the test, and what came out case by case."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.docs.folders import VERDICT
from workbench.docs.page import Page, address, code, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.kind import Kind
from workbench.studies.claims import known_claims
from workbench.studies.claims.claim import KINDS, Claim

MOST_CASES = 60
"""Of the cases of one claim that its page shows; the file of all cases has the others."""


def path(id: str) -> str:
    """Return the path of a claim's page."""
    return f"verdict/{id.lower().replace('.', '-')}"


def pages() -> Iterator[Page]:
    """Yield a page for every claim."""
    for id, claim in known_claims().items():
        if claim.built_in:
            yield _page(id, claim, verdict_of(claim))


def names() -> list[str]:
    """Return the path of every claim's page."""
    return [path(id) for id, claim in known_claims().items() if claim.built_in]


@functools.cache
def verdicts() -> dict[str, Mapping[str, Any]]:
    """Return what a full run said of every claim, by its number."""
    file = VERDICT / "verdict.json"
    rows = json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    return {row["id"]: row for row in rows}


def verdict_of(claim: Claim) -> Mapping[str, Any] | None:
    """Return what the latest full run said of a claim, be it 0.5's verdict on its question of then; None where it is
    younger."""
    return verdicts().get(claim.verdict_id) or verdicts().get(claim.id)


def older(claim: Claim, row: Mapping[str, Any] | None) -> str:
    """Return a sentence where a verdict is of another question or estimand than the claim has now; else nothing."""
    if row is None or row["id"] == claim.verdict_id:
        return ""
    return f"This is 0.5's verdict, on the mean difference: “{row['statement']}”. {claim.verdict_id} is not judged yet."


def _page(id: str, claim: Claim, row: Mapping[str, Any] | None) -> Page:
    here = path(id)
    word = str(row["verdict"]).replace("_", " ") if row else "not judged yet"
    return Page(
        here,
        id,
        sections(
            "{.crumbs}\n" + f"[The verdict]({address(here, 'verdict/index')})",
            f"# {id}",
            f"**{word}**: {prose(claim.statement, here)}.",
            prose(older(claim, row), here),
            _facts(claim, row, here),
            _cases(row, here) if row else "It is younger than the latest full run.",
            sections("## Run it again", code(f"workbench claims {id}", "bash")),
        ),
        summary=f"{prose(claim.statement, here)} | {word}",
        group=claim.family,
    )


def _facts(claim: Claim, row: Mapping[str, Any] | None, here: str) -> str:
    spec = prose(f"spec {claim.family.removeprefix('H')}, {claim.id}", here)
    rows = [
        ["asserted in", f"{spec}; {prose(claim.source, here)}"],
        ["kind", f"{claim.kind.replace('_', ' ')}: {KINDS[claim.kind]}"],
        ["design", prose(claim.design, here) or "its own cases"],
    ]
    if row:
        rows += [
            ["cases for, against, neither", f"{row['cases_for']}, {row['cases_against']}, {row['cases_neither']}"],
            ["corrected over", f"{row['family_size']} tested claims of the specification, and its own cases"],
        ]
    return table(["", ""], rows)


def _cases(row: Mapping[str, Any], here: str) -> str:
    cases = row["cases"]
    sides = {"for": "for", "against": "against"}
    rows = [
        [
            prose(str(case["case"]), here),
            prose(str(case["measure"] or ""), here),
            _number(case["estimate"]),
            f"{_number(case['low'])} to {_number(case['high'])}",
            case["unit"] or "",
            case["n"],
            sides.get(str(case["side"]), "neither"),
        ]
        for case in cases[:MOST_CASES]
    ]
    rest = f"{len(cases) - MOST_CASES} more cases are in `data/verdict/cases.csv`." if len(cases) > MOST_CASES else ""
    heads = ["case", "measure", "estimate", "interval", "unit", "n", "says"]
    return sections("## Cases", table(heads, rows), rest)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, (int, float)) else str(value)


KIND = Kind("claims", "Claims", "", pages, names)
