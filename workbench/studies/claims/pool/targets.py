"""H5.5 to H5.7: the fastest link, thresholds and weights, and the history of lending (spec 5, R18-R21)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.experiments.run_set import RunSet
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.pool.experiment import FULL, experiment
from workbench.studies.statistics import Finding

RIVALS = ("most_free", "random_card", "round_robin")
FAST = "max_bandwidth"
THRESHOLDS = (12.0, 24.0, 48.0, 96.0, 150.0)
"""GB/s: from the slowest link of table 300 over the document's own, 48, to more than any has (spec 5, H5.6)."""
WEIGHTS = ([1, 1, 0], [1, 1, 1])
PACES: Mapping[str, dict[str, Any]] = {"at leisure": {"gap": {"log_uniform": [10**6, 10**8]}}, "in a burst": {}}
"""How fast GPU 0 asks: a block in tens of milliseconds, or of microseconds, which no link keeps up with."""


def _rivals(evidence: Evidence, pace: str) -> RunSet:
    config = experiment({**FULL, **PACES[pace]}, target={"vary": [FAST, *RIVALS]})
    return evidence.runs(f"pool_targets_{pace.split()[-1]}", config)


def _fast(evidence: Evidence) -> Iterator[Finding]:
    for pace in PACES:
        runs = _rivals(evidence, pace)
        for rival in RIVALS:
            first, other = point(runs, target=rival), point(runs, target=FAST)
            yield better(runs, first, other, "remote_access_mean_ns", f"{pace}, against {rival}")


def _balance(evidence: Evidence) -> Iterator[Finding]:
    runs = _rivals(evidence, "at leisure")
    for rival in RIVALS:
        yield better(runs, point(runs, target=rival), point(runs, target=FAST), "utilisation_std", f"against {rival}")


def _thresholds(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the threshold: of the least and each other, either is the better one in one objective."""
    chosen = {"bandwidth_then_most_free": {"threshold_gbps": {"vary": list(THRESHOLDS)}}}
    runs = evidence.runs("pool_thresholds", experiment(FULL, target=chosen))
    least, *others = THRESHOLDS
    low = point(runs, threshold_gbps=least)
    for other in others:
        high = point(runs, threshold_gbps=other)
        yield better(runs, low, high, "remote_access_mean_ns", f"threshold {other:g} against {least:g}")
        yield better(runs, high, low, "utilisation_std", f"threshold {least:g} against {other:g}")


def _weights(evidence: Evidence) -> Iterator[Finding]:
    ends = {"weighted_cards": {"weights": {"vary": [[1, 0, 0], [0, 1, 0]]}}}
    runs = evidence.runs("pool_weight_ends", experiment(FULL, target=ends))
    free, fast = runs.points
    yield better(runs, free, fast, "remote_access_mean_ns", "weight on bandwidth against weight on free memory")
    yield better(runs, fast, free, "utilisation_std", "weight on free memory against weight on bandwidth")


def _history(evidence: Evidence, measure: str) -> Finding:
    chosen = {"weighted_cards": {"weights": {"vary": [list(w) for w in WEIGHTS]}}}
    runs = evidence.runs("pool_history", experiment(FULL, target=chosen))
    without, having = runs.points
    return better(runs, without, having, measure, "with w3")


TARGETS = [
    Claim(
        "H5.5",
        "the fastest link keeps borrowed data fast",
        "¶33 and ¶60",
        lambda e: [*_fast(e)],
        costs=lambda e: [*_balance(e)],
    ),
    Claim(
        "H5.6",
        "thresholds and weights trade speed against balance",
        "¶36-37",
        lambda e: [*_thresholds(e), *_weights(e)],
        design="thresholds of 24 to 150 GB/s against 12, and the ends of the weights, 2 objectives",
    ),
    Claim(
        "H5.7",
        "the weight of history spreads borrowing",
        "¶38",
        lambda e: [_history(e, "lender_entropy")],
        costs=lambda e: [_history(e, measure) for measure in ("borrowed_bandwidth_gbps", "remote_access_mean_ns")],
    ),
]
