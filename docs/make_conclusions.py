"""Conclusions under two laws: each claim whose runs depend on a law that measurements refute, before and after.

`python -m docs.make_conclusions [PAIR ...]` runs the claims twice and writes `data/validation/conclusions.csv`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from workbench.claims import known_claims, plan_claims
from workbench.claims.report import Outcome
from workbench.number_text import number

FILE = Path("data/validation/conclusions.csv")
SEEDS = 200


class Pair(NamedTuple):
    """A refuted law and the law that the measurements favor, as levers of the claims' sweeps."""

    name: str
    families: tuple[str, ...]
    """The claims whose runs depend on the law, by specification."""
    before: Mapping[str, Any]
    after: Mapping[str, Any]


PAIRS: tuple[Pair, ...] = ()


def main(names: list[str]) -> int:
    """Run the claims of some pairs, or of all, and keep the other rows of the file."""
    kept = list(csv.DictReader(FILE.open(encoding="utf-8"))) if FILE.exists() else []
    chosen = [pair for pair in PAIRS if not names or pair.name in names]
    rows = [row for row in kept if row["law"] not in {pair.name for pair in chosen}]
    rows += [row for pair in chosen for row in conclusions(pair)]
    with FILE.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    return 0


def conclusions(pair: Pair, seeds: int = SEEDS) -> Iterator[dict[str, str]]:
    """Yield one row a claim: its verdict and its decisive case under both laws."""
    ids = [id for id, claim in known_claims().items() if claim.family in pair.families and claim.kind == "tested"]
    both = [list(plan_claims(ids, seeds=seeds, levers=levers).outcomes()) for levers in (pair.before, pair.after)]
    for before, after in zip(*both, strict=True):
        yield {
            "law": pair.name,
            "claim": before.id,
            "statement": before.claim.statement,
            "before": before.verdict,
            "after": after.verdict,
            "cases before": in_words(before),
            "cases after": in_words(after),
            "changed sides": str(changed_sides(before, after)),
        }


def in_words(outcome: Outcome) -> str:
    """Return the counts of cases, and the estimate of the decisive case."""
    if outcome.over_cases is None:
        return outcome.problem
    counts = ", ".join(f"{count} {side}" for side, count in outcome.counts.items() if count)
    decisive = outcome.decisive_case
    return f"{counts}; {decisive.id}: {number(decisive.estimate)}" if decisive is not None else counts


def changed_sides(before: Outcome, after: Outcome) -> int:
    """Return the number of cases for the claim under one law and against it under the other."""
    sides = ({case.id: side for case, side in zip(one.cases, one.sides, strict=False)} for one in (before, after))
    first, second = sides
    return sum({first[id], second[id]} == {"for", "against"} for id in first.keys() & second.keys())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
