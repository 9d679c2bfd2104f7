"""H5.1, H5.2, H5.9: a job that would fail runs by borrowing, cards are used more evenly, programs stay as they are."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better, of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.pool.experiment import BUSY, FULL, SKEWED, experiment
from workbench.studies.statistics import Finding, fact

FOOTPRINTS = (1.0, 2.0, 3.0)
"""What GPU 0 asks for over its memory (spec 5, H5.1)."""
ALONE, LENDING = "local_only", "max_bandwidth"
EVERY = (ALONE, LENDING, "bandwidth_then_most_free", "weighted_cards", "round_robin", "random_card", "nearest")


def _full(evidence: Evidence) -> RunSet:
    workload = {**FULL, "footprint": {"vary": list(FOOTPRINTS)}}
    return evidence.runs("pool_full", experiment(workload, target={"vary": [ALONE, LENDING]}))


def _completes(evidence: Evidence) -> Iterator[Finding]:
    runs = _full(evidence)
    for footprint in FOOTPRINTS:
        lending = point(runs, footprint=footprint, target=LENDING)
        rates = finite(runs, lending, "completed_rate")
        whole = all(rate == 1.0 for rate in rates.values())
        bytes_of = finite(runs, lending, "granted_bytes_rate")
        note = f"the least share granted is {min(rates.values()):.3f} of the allocations, "
        note += f"{min(bytes_of.values()):.3f} of their bytes"
        about = f"footprint {footprint:g}"
        finding = fact(f"{about}, everything is granted", "on every seed", whole, n=len(rates), note=note)
        yield of(runs, finding._replace(estimate=min(rates.values())), "completed_rate")


def _completes_more(evidence: Evidence) -> Iterator[Finding]:
    runs = _full(evidence)
    for footprint in (one for one in FOOTPRINTS if one > 1):
        alone, lending = (point(runs, footprint=footprint, target=name) for name in (ALONE, LENDING))
        yield better(runs, alone, lending, "completed_rate", f"footprint {footprint:g}")


def _evener(evidence: Evidence) -> Iterator[Finding]:
    for workload in (SKEWED, FULL):
        regime = workload["regime"]
        runs = evidence.runs(f"pool_even_{regime}", experiment(workload, target={"vary": list(EVERY)}))
        for rival in (ALONE, "round_robin"):
            for measure in ("utilisation_gini", "utilisation_std"):
                first, other = point(runs, target=rival), point(runs, target=LENDING)
                yield better(runs, first, other, measure, f"{regime}, against {rival}")


def _unchanged(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the same requests, unmodified, run to their end under every policy."""
    runs = evidence.runs("pool_every", experiment(BUSY, target={"vary": list(EVERY)}))
    for name in EVERY:
        ended = finite(runs, point(runs, target=name), "completed_rate")
        note = f"{len(ended)} runs ended; granted on average {sum(ended.values()) / max(len(ended), 1):.3f}"
        whole = len(ended) == len(runs.seeds)
        finding = fact(name, "every run of the same requests ends", whole, n=max(len(ended), 1), note=note)
        yield of(runs, finding._replace(estimate=len(ended) / len(runs.seeds)), "runs that end", "share of seeds")


BORROWING = [
    Claim(
        "H5.1",
        "a job that would fail on a full card is granted everything by borrowing",
        "¶60",
        lambda e: [*_completes(e)],
        kind="by_construction",
        design="footprints of 1, 2 and 3 cards",
    ),
    Claim(
        "H5.1b",
        "more of a job's requests are granted with borrowing than without",
        "¶60",
        lambda e: [*_completes_more(e)],
        design="footprints of 2 and 3 cards",
    ),
    Claim(
        "H5.2",
        "cards are used more evenly than without borrowing, and than in turn",
        "¶18 and ¶60",
        lambda e: [*_evener(e)],
    ),
    Claim(
        "H5.9",
        "the same requests run under every policy",
        "¶60",
        lambda e: [*_unchanged(e)],
        kind="by_construction",
        design="7 policies",
    ),
]
