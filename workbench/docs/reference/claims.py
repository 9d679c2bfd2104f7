"""Pages of claims: what a document asserts, how it was put to the test, and what came out case by case."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.claims import known_claims
from workbench.claims.claim import KINDS, Claim
from workbench.docs import VERDICT
from workbench.docs.markdown import Page, anchor, ref, sections, table
from workbench.docs.spec_links import PAGES, prose
from workbench.number_text import number
from workbench.statistics import WORDS

MOST_CASES = 60
"""Of the cases of one claim that its entry shows; the file of all cases has the others."""
NOT_JUDGED = "not judged yet"


def claim_path(id: str) -> str:
    """Return the entry of a claim, on the page of its specification's verdicts."""
    return f"verdict/{PAGES[int(id[1])]}#{id.lower().replace('.', '-')}"


def _members() -> dict[str, dict[str, Claim]]:
    """Return the claims of the package by the specification that they are of."""
    members: dict[str, dict[str, Claim]] = {}
    for id, claim in known_claims().items():
        if claim.built_in:
            members.setdefault(PAGES[int(claim.family.removeprefix("H"))], {})[id] = claim
    return members


def claim_pages() -> Iterator[Page]:
    """Yield a page of the claims of each specification."""
    for page, claims in _members().items():
        title = f"Claims of specification {page.replace('-', ', ')}"
        again = "`workbench claims ID` puts one to the test again."
        text = sections(f"# {title}", again, *(_claim_entry(id, claim) for id, claim in claims.items()))
        yield Page(f"verdict/{page}", title, text, names=tuple(id.lower().replace(".", "-") for id in claims))


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


def _claim_entry(id: str, claim: Claim) -> str:
    row = verdict_of(claim)
    return sections(
        anchor(id.lower().replace(".", "-")),
        f"## {id}",
        f"**{_verdict_word(id)}**: {prose(claim.statement)}.",
        prose(older(claim, row)),
        _claim_facts(claim, row),
        _cases(row) if row else "It is younger than the latest full run.",
    )


def _claim_facts(claim: Claim, row: Mapping[str, Any] | None) -> str:
    spec = prose(f"spec {claim.family.removeprefix('H')}, {claim.id}")
    rows = [
        ["asserted in", f"{spec}; {prose(claim.source)}"],
        ["kind", f"{claim.kind.replace('_', ' ')}: {KINDS[claim.kind]}"],
        ["design", prose(claim.design) or "its own cases"],
    ]
    if row:
        rows += [
            ["cases for, against, neither", f"{row['cases_for']}, {row['cases_against']}, {row['cases_neither']}"],
            ["corrected over", f"{row['family_size']} tested claims of the specification, and its own cases"],
        ]
    return table(["", ""], rows)


def _cases(row: Mapping[str, Any]) -> str:
    cases = row["cases"]
    sides = {"for": "for", "against": "against"}
    rows = [
        [
            prose(str(case["case"])),
            prose(str(case["measure"] or "")),
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
    return sections(table(heads, rows), rest)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, (int, float)) else str(value)


def verdict_summary() -> str:
    """Return how many claims of each specification came out how."""
    columns, rows = [*(word.replace("_", " ") for word in WORDS), NOT_JUDGED], list[list[object]]()
    for page, claims in _members().items():
        came = [*map(_verdict_word, claims)]
        rows.append(
            [ref(page.replace("-", ", "), f"specification/{page}"), *(came.count(word) or "" for word in columns)]
        )
    return table(["specification", *columns], rows)


def verdict_words() -> str:
    """Return what each verdict means."""
    rows = [[f"**{word.replace('_', ' ')}**", meaning] for word, meaning in WORDS.items()]
    return table(["verdict", "it holds, or what is shown"], rows)


def claim_kinds() -> str:
    """Return what each kind of claim means."""
    return table(["kind", "it means"], [[kind.replace("_", " "), meaning] for kind, meaning in KINDS.items()])


def claims_table() -> str:
    """Return every claim with its verdict, a table a specification."""
    heads = ["claim", "it says", "verdict", "kind"]
    return sections(
        *(
            sections(
                f"## Specification {page.replace('-', ': ')}", table(heads, map(_claim_row, claims, claims.values()))
            )
            for page, claims in _members().items()
        )
    )


def _claim_row(id: str, claim: Claim) -> list[str]:
    word = _verdict_word(id)
    marked = word if word == NOT_JUDGED else f"**{word}**"
    return [ref(id, claim_path(id)), prose(claim.statement), marked, claim.kind.replace("_", " ")]


def _verdict_word(id: str) -> str:
    """Return a claim's verdict in the last full run."""
    row = verdict_of(known_claims()[id])
    return row["verdict"].replace("_", " ") if row else NOT_JUDGED
