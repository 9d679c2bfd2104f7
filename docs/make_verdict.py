"""The verdicts in README.md, made from data/verdict: run from the project's folder with `make verdict-table`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.claims import SEEDS, known_claims
from workbench.claims.claim import in_order
from workbench.statistics import WORDS

README, DATA = Path("README.md"), Path("data/verdict")
BEGINS, ENDS = "<!-- verdicts: made from data/verdict -->", "<!-- end of verdicts -->"
SPECIFICATIONS = {
    "H1": "1, placement",
    "H2": "2, malloc",
    "H3": "3, dispatch",
    "H4": "4, translation",
    "H5": "5, pool",
    "H6": "6, node",
}
GONE = ("H3.13b",)
"""Claims of 0.5 that are part of another one now."""
NOT_JUDGED = " (none judged yet: its claims are younger than this run)"
_MARKS = {"counted": "°", "by_construction": "*", "measured": "†"}


def block(folder: Path) -> str:
    """Return what README shows of a full run: one row a specification, each claim under its verdict."""
    if not (folder / "verdict.json").exists():
        return "No full run is kept in `data/verdict` yet.\n"
    verdicts = json.loads((folder / "verdict.json").read_text())
    came = json.loads((folder / "provenance.json").read_text())
    _check(verdicts, came, (folder / "verdict.csv").read_text())
    return f"{_where_from(came)}\n\n{_table(verdicts)}\n{_legend(verdicts)}\n"


def _check(verdicts: Sequence[Mapping[str, Any]], came: Mapping[str, Any], table: str) -> None:
    """Refuse data of claims that say something else now, of few seeds, or with a table of something else beside it."""
    known = {claim.verdict_id: claim.statement for claim in known_claims().values()}
    other = [one["id"] for one in verdicts if not is_older(one["id"]) and known.get(one["id"]) != one["statement"]]
    if other:
        raise ValueError(f"data/verdict is of other claims than there are: {', '.join(other)}")
    if came["seeds"]["count"] < SEEDS or not came["environment"]["sources"]:
        raise ValueError("data/verdict is no full run with provenance")
    if [line.partition(",")[0] for line in table.splitlines() if line[:1] == "H"] != [one["id"] for one in verdicts]:
        raise ValueError("verdict.csv and verdict.json are of different runs")


def is_older(id: str) -> bool:
    """Return whether a verdict is one of 0.5, on a claim that asks another question now, or another estimand."""
    claim = known_claims().get(id)
    return id in GONE or (claim is not None and claim.verdict_id != id)


def _where_from(came: Mapping[str, Any]) -> str:
    seeds, environment = came["seeds"], came["environment"]
    return (
        f"What a full run said ([every claim](data/verdict/verdict.md), [every case](data/verdict/cases.csv)): "
        f"{seeds['count']} paired seeds from {seeds['first']:,} on, commit {str(environment.get('commit'))[:7]}, "
        f"Python {environment['python']}, {environment['machine']}."
    )


def _table(verdicts: Sequence[Mapping[str, Any]]) -> str:
    words = [*WORDS]
    head = f"| specification | {' | '.join(word.replace('_', ' ') for word in words)} |\n|{' --- |' * (len(words) + 1)}"
    rows = []
    for family, name in SPECIFICATIONS.items():
        members = [one for one in verdicts if one["family"] == family]
        cells = [", ".join(_named(one) for one in members if one["verdict"] == word) for word in words]
        rows.append(f"| {name}{'' if members else NOT_JUDGED} | {' | '.join(cells)} |")
    return "\n".join([head, *rows])


def _named(one: Mapping[str, Any]) -> str:
    return one["id"] + _MARKS.get(one["kind"], "")


def _legend(verdicts: Sequence[Mapping[str, Any]]) -> str:
    told = "\n° counted, * true by construction, † measured on the machine; all others tested. "
    judged = {one["id"] for one in verdicts}
    absent = [id for id, claim in known_claims().items() if not {id, claim.verdict_id} & judged]
    absent = sorted(absent, key=lambda id: (id[:2], in_order(id)))
    lacking = f" Younger than this run: {', '.join(absent)}." if absent else ""
    if any(is_older(id) for id in judged):
        lacking += (
            " A tested claim without `-pair` behind its number was judged by version 0.5, by the mean difference of the "
            "paired runs. If its question has changed since, it was judged on the former question. The next full run "
            "judges every tested claim by its size and its direction, and writes it with `-pair`, such as `H1.1-pair`."
        )
    return f"{told}`workbench claims ID` shows the cases of one.{lacking}"


def with_block(readme: str, shown: str) -> str:
    """Return a README with the block between its marks replaced."""
    before, _, rest = readme.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}\n{shown}{ENDS}{after}"


def main() -> None:
    README.write_text(with_block(README.read_text(), block(DATA)))


if __name__ == "__main__":
    main()
