"""The verdicts in README.md and data/verdict/README.md, made from data/verdict: `make verdict-table`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.claims import SEEDS, known_claims
from workbench.claims.claim import in_order
from workbench.docs.kept_verdicts import CHANGED, KeptRun, is_former, read_kept
from workbench.statistics import WORDS

README, DATA = Path("README.md"), Path("data/verdict")
PAGE = DATA / "README.md"
BEGINS, ENDS = "<!-- verdicts: made from data/verdict -->", "<!-- end of verdicts -->"
SPECIFICATIONS = {
    "H1": "1, placement",
    "H2": "2, malloc",
    "H3": "3, dispatch",
    "H4": "4, translation",
    "H5": "5, pool",
    "H6": "6, node",
    "H7": "7, between queue and unit",
}
GONE = ("H3.13b",)
"""Claims of 0.5 that are part of another one now."""
NOT_JUDGED = " (none judged yet: its claims are younger than this run)"
_MARKS = {"counted": "°", "by_construction": "*", "measured": "†"}


def block(folder: Path) -> str:
    """Return the page of a full run: one row a specification, each claim under its verdict."""
    run = read_kept(folder)
    if run is None:
        return "No full run is kept in `data/verdict` yet.\n"
    _check(run, (folder / "verdict.csv").read_text())
    return f"{_where_from(run)}\n\n{_table(run)}\n{_legend(run)}\n"


def summary(folder: Path) -> str:
    """Return the README's count of the verdicts of a full run."""
    run = read_kept(folder)
    if run is None:
        return "No full run is kept in `data/verdict` yet.\n"
    verdicts = [one["verdict"] for one in run.rows.values()]
    counts = [(verdicts.count(word), meaning) for word, meaning in _IN_WORDS.items()]
    words = [meaning.format(count, "s" * (count == 1)) for count, meaning in counts if count]
    listed = f"{', '.join(words[:-1])}, and {words[-1]}"
    return (
        f"A full run of version {run.version} judged {len(verdicts)} claims: {listed}.\n"
        f"[The verdict](data/verdict/README.md) names each of them.\n"
    )


_IN_WORDS = {
    "holds": "{} hold{} in every case",
    "holds_where": "{} hold{} in some",
    "undecided": "{} stay{} undecided",
    "fails_where": "{} fail{} in some",
    "contradicted": "{} fail{} in every case",
}
"""A verdict as part of a sentence."""


def _check(run: KeptRun, table: str) -> None:
    """Refuse data of former claims, of few seeds, or with a table of another run."""
    known = {claim.verdict_id: claim.statement for claim in known_claims().values()}
    other = [id for id, row in run.rows.items() if not is_former(row) and known.get(id) != row["statement"]]
    unknown = [id for id in run.rows if id not in GONE and not id.startswith(tuple(known_claims()))]
    if other or unknown:
        raise ValueError(f"data/verdict is of other claims than there are: {', '.join([*other, *unknown])}")
    if run.seeds < SEEDS or not run.provenance["environment"]["sources"]:
        raise ValueError("data/verdict is no full run with provenance")
    if [line.partition(",")[0] for line in table.splitlines() if line[:1] == "H"] != [*run.rows]:
        raise ValueError("verdict.csv and verdict.json are of different runs")


def _where_from(run: KeptRun) -> str:
    first, environment = run.provenance["seeds"]["first"], run.provenance["environment"]
    return (
        f"A full run of version {run.version} ([every claim](verdict.md), "
        f"[every case](cases.csv)): "
        f"{run.seeds} paired seeds from {first:,} on, commit {str(environment.get('commit'))[:7]}, "
        f"Python {environment['python']}, {environment['machine']}."
    )


def _table(run: KeptRun) -> str:
    words = [*WORDS]
    head = f"| specification | {' | '.join(word.replace('_', ' ') for word in words)} |\n|{' --- |' * (len(words) + 1)}"
    rows = []
    for family, name in SPECIFICATIONS.items():
        members = [one for one in run.rows.values() if one["family"] == family]
        cells = [", ".join(_named(one) for one in members if one["verdict"] == word) for word in words]
        rows.append(f"| {name}{'' if members else NOT_JUDGED} | {' | '.join(cells)} |")
    return "\n".join([head, *rows])


def _named(one: Mapping[str, Any]) -> str:
    return f"{one['id']}{_MARKS.get(one['kind'], '')}{CHANGED * is_former(one)}"


def _legend(run: KeptRun) -> str:
    told = "\n° counted, * true by construction, † measured on the machine; all others tested. "
    absent = [id for id, claim in known_claims().items() if run.of(claim) is None]
    absent = sorted(absent, key=lambda id: (id[:2], in_order(id)))
    lacking = f" Younger than this run: {', '.join(absent)}." if absent else ""
    if any(is_former(row) for row in run.rows.values()):
        lacking += (
            f" {CHANGED} The question or the test has changed since: version {run.version} judged most of these claims "
            "by the mean difference of the paired runs. The next full run judges them by size and by direction, and "
            "keeps a tested claim with `-pair` behind its number."
        )
    return f"{told}`workbench claims ID` shows the cases of one.{lacking}"


def with_block(readme: str, shown: str) -> str:
    """Return a README with the block between its marks replaced."""
    before, _, rest = readme.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}\n{shown}{ENDS}{after}"


def main() -> None:
    for page, text in ((README, summary(DATA)), (PAGE, block(DATA))):
        page.write_text(with_block(page.read_text(), text))


if __name__ == "__main__":
    main()
