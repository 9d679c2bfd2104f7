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
from workbench.claims.claim import Kind, nothing
from workbench.claims.malloc import ALIGN
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
    kinds: tuple[Kind, ...] = ("tested",)
    """The kinds of claim that the law can change."""
    narrowed: Mapping[str, Mapping[str, Any]] = {}
    """By claim: levers of both sides that leave out points which one of the laws refuses and no case needs."""
    cannot_hold: Mapping[str, str] = {}
    """By claim: why it cannot hold under the other law, whatever is run."""
    seeds: int = SEEDS
    """Of the claims; the file says them in each row."""


_SHARED = {"shared_rate": {"law": {"linear": {"slope": 0.2965}}}}
"""The rate that was fitted to n-body on an MI300A (`data/validation/levers.yaml`)."""
_AS_A_WHOLE = {"policy.serve": {"vary": [{"warp_aggregated": ALIGN}, {"per_thread": ALIGN}]}}
"""The two points of H2.10's cases. What its costs are of, blocks freed piece by piece, no parallel heap takes."""


def _parallel(heap: str) -> Pair:
    """Return the pair of one server and a heap that serves in parallel (spec 2, section 9)."""
    return Pair(
        f"one server -> heaps that serve in parallel: {heap}",
        ("H2",),
        "malloc",
        {},
        {"policy.heap": heap, "policy.lock": "word_by_word"},
        kinds=("tested", "counted", "by_construction"),
        narrowed={"H2.10": _AS_A_WHOLE},
        cannot_hold={
            "H2.1": "a request makes several accesses (R24), not one atomic",
            "H2.5": "no warp waits for a division, and split_overlap changes nothing (R28)",
        },
        seeds=40,
    )


PAIRS: tuple[Pair, ...] = (
    Pair("constant durations -> shared rates", ("H3",), "dispatch", {}, {"options.progress": _SHARED}),
    Pair(
        "widest path -> halved by a further link",
        ("H5",),
        "pool",
        {"options.path_metric": "bottleneck"},
        {"options.path_metric": "hop_penalised"},
    ),
    _parallel("scattered_pages"),
    _parallel("page_queue"),
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


def conclusions(pair: Pair, seeds: int | None = None) -> Iterator[dict[str, str]]:
    """Yield one row a claim: its verdict and its decisive case under both laws."""
    seeds = pair.seeds if seeds is None else seeds
    both = [outcomes(pair, levers, seeds) for levers in (pair.before, pair.after)]
    for before, after in zip(*both, strict=True):
        cannot = pair.cannot_hold.get(before.id)
        yield {
            "law": pair.name,
            "claim": before.id,
            "statement": before.claim.statement,
            "before": before.verdict,
            "after": after.verdict,
            "cases before": in_words(before),
            "cases after": f"cannot hold: {cannot}; {in_words(after)}" if cannot else in_words(after),
            "changed sides": str(changed_sides(before, after)),
            "seeds": str(seeds),
        }


def outcomes(pair: Pair, levers: Mapping[str, Any], seeds: int, out: Path | None = None) -> list[Outcome]:
    """Return the outcome of every claim that a pair of laws is about, under one of them; costs are left out."""
    known = known_claims()
    ids = [id for id, claim in known.items() if claim.family in pair.families and claim.kind in pair.kinds]
    groups = [[id for id in ids if id not in pair.narrowed], *([id] for id in pair.narrowed)]
    by_id: dict[str, Outcome] = {}
    for group in groups:
        plan = plan_claims(group, seeds=seeds, levers={**levers, **pair.narrowed.get(group[0], {})})
        plan = plan._replace(claims=[claim._replace(costs=nothing) for claim in plan.claims])
        by_id.update((outcome.id, outcome) for outcome in plan.outcomes(out))
    return [by_id[id] for id in ids]


def sweep_conclusions(pair: Pair, seeds: int = SWEEP_SEEDS) -> Iterator[dict[str, str]]:
    """Yield one row a sweep that compares policies: how often other policies are the best ones, and the first case.

    The best ones have the best mean of a measure, among points that differ in policies alone. A sweep that needs a file
    which is not shipped is left out. One that the other law refuses has a row that says why.
    """
    for file in sorted(Path("sweeps", pair.folder).glob("*.yaml")):
        try:
            before = best_policies(file, pair.before, seeds)
        except WorkbenchError as problem:
            print(f"{file} is left out: {problem}", file=sys.stderr)
            continue
        try:
            after = best_policies(file, pair.after, seeds)
        except WorkbenchError as problem:
            yield {
                "law": pair.name,
                "claim": f"sweep {file.stem}",
                "statement": "best policies",
                "before": "compared",
                "after": "not applicable",
                "cases before": f"{len(before)} comparisons",
                "cases after": str(problem),
                "changed sides": "0",
                "seeds": str(seeds),
            }
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
            "seeds": str(seeds),
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
    """Return the counts of cases, and the estimate of the decisive case; of what is counted, the last such case."""
    if outcome.over_cases is None:
        return outcome.problem
    counts = ", ".join(f"{count} {side}" for side, count in outcome.counts.items() if count)
    decisive = outcome.decisive_case
    if decisive is None:
        return counts
    if outcome.kind != "counted":
        return f"{counts}; {decisive.id}: {number(decisive.estimate)}"
    side = outcome.sides[outcome.cases.index(decisive)]
    last = [case for case, its in zip(outcome.cases, outcome.sides, strict=True) if its == side][-1]
    return f"{counts}; {last.id}: {last.note}"


def changed_sides(before: Outcome, after: Outcome) -> int:
    """Return the number of cases for the claim under one law and against it under the other."""
    sides = ({case.id: side for case, side in zip(one.cases, one.sides, strict=False)} for one in (before, after))
    first, second = sides
    return sum({first[id], second[id]} == {"for", "against"} for id in first.keys() & second.keys())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
