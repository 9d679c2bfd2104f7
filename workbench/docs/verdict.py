"""What a full run said of every claim, as tables of the site."""

from __future__ import annotations

from workbench.docs.page import address, sections, table
from workbench.docs.prose import prose
from workbench.docs.reference.claims import path, verdict_of
from workbench.studies.claims import known_claims
from workbench.studies.claims.claim import KINDS
from workbench.studies.statistics import WORDS

SPECIFICATIONS = {
    "H1": "1-placement",
    "H2": "2-malloc",
    "H3": "3-dispatch",
    "H4": "4-translation",
    "H5": "5-pool",
    "H6": "6-node",
}
NOT_JUDGED = "not judged yet"


def summary(here: str) -> str:
    """Return how many claims of each specification came out how."""
    columns, rows = [*(word.replace("_", " ") for word in WORDS), NOT_JUDGED], list[list[object]]()
    for family, page in SPECIFICATIONS.items():
        members = [id for id, claim in known_claims().items() if claim.family == family and claim.built_in]
        came = [_word(id) for id in members]
        counts = [came.count(word) or "" for word in columns]
        rows.append([f"[{page.replace('-', ', ', 1)}]({address(here, f'specification/{page}')})", *counts])
    return table(["specification", *columns], rows)


def words(here: str) -> str:
    """Return what each verdict means."""
    rows = [[f"**{word.replace('_', ' ')}**", meaning] for word, meaning in WORDS.items()]
    return table(["verdict", "it holds, or what is shown"], rows)


def kinds(here: str) -> str:
    """Return what each kind of claim means."""
    return table(["kind", "it means"], [[kind.replace("_", " "), meaning] for kind, meaning in KINDS.items()])


def claims_table(here: str) -> str:
    """Return every claim with its verdict, a table a specification."""
    parts = []
    for family in dict.fromkeys(claim.family for claim in known_claims().values() if claim.built_in):
        rows = [
            [
                f"[{id}]({address(here, path(id))})",
                prose(claim.statement, here),
                _marked(_word(id)),
                claim.kind.replace("_", " "),
            ]
            for id, claim in known_claims().items()
            if claim.family == family and claim.built_in
        ]
        title = SPECIFICATIONS.get(family, family).replace("-", ": ")
        parts.append(sections(f"## Specification {title}", table(["claim", "it says", "verdict", "kind"], rows)))
    return sections(*parts)


def _word(id: str) -> str:
    """Return a claim's verdict in the last full run."""
    row = verdict_of(known_claims()[id])
    return row["verdict"].replace("_", " ") if row else NOT_JUDGED


def _marked(word: str) -> str:
    return word if word == NOT_JUDGED else f"**{word}**"
