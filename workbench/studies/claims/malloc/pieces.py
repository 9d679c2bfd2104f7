"""H2.6: pieces are apart and inside with the corrected prefix sum, and not with the written one."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite
from workbench.studies.claims.malloc.experiment import FIXED, LOADS, UNEQUAL, experiment, regime
from workbench.studies.statistics import Finding, fact


def _apart(evidence: Evidence) -> Iterator[Finding]:
    rules = {"warp_aggregated": {"prefix": {"vary": ["exclusive", "as_written"]}}}
    for load in LOADS:
        sweep = experiment(regime(LOADS[load][0], **LOADS[load][1]), serve=rules)
        runs = evidence.runs(f"malloc_pieces_{load.replace(' ', '_')}", sweep, seeds=1 if load in FIXED else None)
        for rule, result in zip(("exclusive", "as_written"), runs.points, strict=True):
            overlap, outside = (finite(runs, result, name) for name in ("overlap_bytes", "out_of_bounds_bytes"))
            broken = [overlap[seed] + outside[seed] for seed in overlap]
            expected = all(broken) if rule == "as_written" and load in UNEQUAL else not any(broken)
            what = "breaks on every trace" if rule == "as_written" and load in UNEQUAL else "never breaks"
            mean = sum(broken) / len(broken)
            note = f"{mean:.4g} bytes overlap or lie outside in the mean over {len(broken)} traces"
            case = fact(f"{rule}, {load}", what, expected, estimate=mean, n=len(broken), note=note)
            yield of(runs, case, "bytes that overlap or lie outside", "bytes")


PIECES = [
    Claim(
        "H2.6",
        "threads get memory without conflict, once the prefix sum is corrected",
        "¶42, ¶59 and ¶63",
        lambda e: list(_apart(e)),
        kind="counted",
        design="8 laws of sizes x 2 rules",
    )
]
