"""Conclusions under two laws: claims and shipped sweeps whose runs depend on a law that measurements refute.

`python -m docs.make_conclusions [PAIR ...]` runs them under both laws and writes `data/validation/conclusions.csv`.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import workbench as wb
from workbench.claims import known_claims, plan_claims
from workbench.claims.report import Outcome
from workbench.errors import WorkbenchError
from workbench.number_text import number

FILE = Path("data/validation/conclusions.csv")
SEEDS, SWEEP_SEEDS = 200, 20


class Pair(NamedTuple):
    """A refuted law and the law that the measurements favor, as levers of the claims' sweeps."""

    name: str
    families: tuple[str, ...]
    """The claims whose runs depend on the law, by specification."""
    folder: str
    """The shipped sweeps whose runs depend on it."""
    before: Mapping[str, Any]
    after: Mapping[str, Any]


_SHARED = {"shared_rate": {"law": {"linear": {"slope": 0.2965}}}}
"""The rate that was fitted to n-body on an MI300A (`data/validation/levers.yaml`)."""
PAIRS: tuple[Pair, ...] = (
    Pair("constant durations -> shared rates", ("H3",), "dispatch", {}, {"options.progress": _SHARED}),
    Pair(
        "widest path -> halved by a further link",
        ("H5",),
        "pool",
        {"options.path_metric": "bottleneck"},
        {"options.path_metric": "hop_penalised"},
    ),
)


def main(names: list[str]) -> int:
    """Run the claims of some pairs, or of all, and keep the other rows of the file."""
    kept = list(csv.DictReader(FILE.open(encoding="utf-8"))) if FILE.exists() else []
    chosen = [pair for pair in PAIRS if not names or pair.name in names]
    rows = [row for row in kept if row["law"] not in {pair.name for pair in chosen}]
    rows += [row for pair in chosen for row in (*conclusions(pair), *sweep_conclusions(pair))]
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


def sweep_conclusions(pair: Pair, seeds: int = SWEEP_SEEDS) -> Iterator[dict[str, str]]:
    """Yield one row a sweep that compares policies: how often other policies are the best ones, and the first case.

    The best ones have the best mean of a measure, among points that differ in policies alone. A sweep that needs a file
    which is not shipped is left out.
    """
    for file in sorted(Path("sweeps", pair.folder).glob("*.yaml")):
        try:
            before, after = (best_policies(file, levers, seeds) for levers in (pair.before, pair.after))
        except WorkbenchError as problem:
            print(f"{file} is left out: {problem}", file=sys.stderr)
            continue
        changed = [case for case in before if not {*before[case]} & {*after.get(case, before[case])}]
        if not before:
            continue
        first = changed[0] if changed else next(iter(before))
        yield {
            "law": pair.name,
            "claim": f"sweep {file.stem}",
            "statement": f"best policy by {first}",
            "before": " = ".join(before[first]),
            "after": " = ".join(after.get(first, before[first])),
            "cases before": f"{len(before)} comparisons",
            "cases after": f"{len(changed)} have another best policy",
            "changed sides": str(len(changed)),
        }


def best_policies(file: Path, levers: Mapping[str, Any], seeds: int) -> dict[str, list[str]]:
    """Return the policies with the best mean, by measure and by the values of all other levers that vary."""
    results = wb.run(file, set=dict(levers), seeds=seeds, workers=0)
    summary = results.summary()
    policies = [name for name in summary.columns if name.startswith("policy.")]
    others = [name for name in results.varied if name in summary.columns and name not in policies]
    measures = results.plan.sweep.mechanism.measures
    best: dict[str, list[str]] = {}
    for case, rows in summary.groupby([*others, "measure"], sort=False, dropna=False) if policies else ():
        measure = case[-1]
        rows = rows[rows["mean"].notna()]
        if measures[measure].better == "neither" or len(rows) < 2:
            continue
        extreme = rows["mean"].min() if measures[measure].better == "lower" else rows["mean"].max()
        winners = rows[rows["mean"] == extreme]
        setting = ", ".join(f"{name} {value}" for name, value in zip(others, case, strict=False))
        names = [", ".join(str(value) for value in row if value == value) for row in winners[policies].to_numpy()]
        best[f"{measure} ({setting})" if setting else measure] = names
    return best


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
