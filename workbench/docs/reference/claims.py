"""Pages of claims: what a document asserts, how it was put to the test, and what came out case by case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.claims import known_claims
from workbench.claims.claim import KINDS, Claim
from workbench.docs.kept_verdicts import CHANGED, STATISTICS, is_former, kept_run, row_of, statistic_of, words_of
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


def former(row: Mapping[str, Any] | None, claim: Claim) -> str:
    """Return a sentence where a verdict is of another question or test than its claim has now; else nothing."""
    if row is None or not is_former(row):
        return ""
    question = "" if row["statement"] == claim.statement else f" and on another question, “{row['statement']}”"
    return (
        f"{CHANGED} This is the verdict of version {kept_run().version}, by the tests of then{question}. The next full "
        f"run judges {claim.verdict_id} as it stands here."
    )


def _claim_entry(id: str, claim: Claim) -> str:
    row = kept_run().of(claim)
    return sections(
        anchor(id.lower().replace(".", "-")),
        f"## {id}",
        f"**{_verdict_word(id)}**: {prose(claim.statement)}.",
        prose(former(row, claim)),
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
            statistic_of(case),
            _number(case["estimate"]),
            f"{_number(case['low'])} to {_number(case['high'])}",
            case["unit"] or "",
            case["n"],
            sides.get(str(case["side"]), "neither"),
        ]
        for case in cases[:MOST_CASES]
    ]
    rest = f"{len(cases) - MOST_CASES} more cases are in `data/verdict/cases.csv`." if len(cases) > MOST_CASES else ""
    heads = ["case", "measure", "statistic", "estimate", "interval", "unit", "n", "says"]
    return sections(table(heads, rows), rest)


def _number(value: Any) -> str:
    if value is None:
        return "-"
    return number(value) if isinstance(value, (int, float)) else str(value)


def verdict_summary() -> str:
    """Return the number of claims of each specification for each verdict."""
    columns, rows = [*(word.replace("_", " ") for word in WORDS), NOT_JUDGED], list[list[object]]()
    for page, claims in _members().items():
        came = [*map(_verdict_word, claims)]
        title = page.replace("-", ", ", 1).replace("-", " ")
        rows.append([ref(title, f"specification/{page}"), *(came.count(word) or "" for word in columns)])
    return table(["specification", *columns], rows)


def verdict_words() -> str:
    """Return the meaning of each verdict."""
    rows = [[f"**{word.replace('_', ' ')}**", meaning] for word, meaning in WORDS.items()]
    return table(["verdict", "it holds, or what is shown"], rows)


def claim_kinds() -> str:
    """Return the meaning of each kind of claim."""
    return table(["kind", "it means"], [[kind.replace("_", " "), meaning] for kind, meaning in KINDS.items()])


def statistics() -> str:
    """Return the meaning of each name of an estimate."""
    return table(["name", "the estimate is"], [[name, meaning] for name, meaning in STATISTICS.items()])


def claims_table() -> str:
    """Return every claim with its verdict, a table a specification."""
    heads = ["claim", "it says", "verdict", "kind"]
    return sections(
        f"{CHANGED} The question or the test has changed since the run: this was the verdict of version "
        f"{kept_run().version}.",
        *(
            sections(
                f"## Specification {page.replace('-', ': ')}", table(heads, map(_claim_row, claims, claims.values()))
            )
            for page, claims in _members().items()
        ),
    )


def _claim_row(id: str, claim: Claim) -> list[str]:
    word, row = _verdict_word(id), kept_run().of(claim)
    marked = word if row is None else f"**{word}**{CHANGED * is_former(row)}"
    return [ref(id, claim_path(id)), prose(claim.statement), marked, claim.kind.replace("_", " ")]


def _verdict_word(id: str) -> str:
    """Return a claim's verdict in the last full run."""
    row = kept_run().of(known_claims()[id])
    return row["verdict"].replace("_", " ") if row else NOT_JUDGED


def verdicts_on(ids: str) -> str:
    """Return claims with links and their verdicts: `H1.1 holds where; H1.3, H1.9 hold`, marked as in their table."""
    parts = []
    for word, members in words_of(ids.split()).items():
        links = ", ".join(ref(f"{id}{CHANGED * is_former(row_of(id))}", _entry_of(id)) for id in members)
        parts.append(f"{links} {word if len(members) == 1 else _PLURAL.get(word, word)}")
    return "; ".join(parts)


_PLURAL = {
    "holds": "hold",
    "holds where": "hold where",
    "fails where": "fail where",
}


def _entry_of(id: str) -> str:
    """Return the entry of a claim; of one that is part of another by now, the page of all verdicts."""
    return claim_path(id) if id in known_claims() else "verdict/index"
