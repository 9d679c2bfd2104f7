"""H5.10 and H5.11: borrowing costs the lender, and the service is a bottleneck."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, better, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.pool.experiment import GROWING, MACHINE, experiment
from workbench.studies.statistics import Finding, equivalent
from workbench.studies.statistics.equivalence import equivalent_mean

ALONE, LENDING = "local_only", "max_bandwidth"
SERVICE = {"ipc_ns": 5_000, "service_ns": 2_000}
"""From a client to the service and back, and its work: assumptions."""
FAST, SLOW = {"uniform": [8_000, 12_000]}, {"uniform": [80_000, 120_000]}
ONE = {"cards": [{"id": "cpu0", "kind": "cpu"}, {"id": "gpu0"}], "links": [{"between": "cpu0 gpu0", "gbps": 16.0}]}
"""A board of one GPU, whose application is the only client."""
GROWS = 1.1
"""Waiting counts as a bottleneck when eight clients wait so many times as long as one; stated before any run."""


def _lender(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("pool_lender", experiment(GROWING, target={"vary": [ALONE, LENDING]}))
    alone, lending = (point(runs, target=name) for name in (ALONE, LENDING))
    yield better(runs, lending, alone, "lender_failure_rate", "without borrowing")
    slower = [value - 1 for value in finite(runs, lending, "remote_slowdown").values()]
    longer = "borrowed data are longer under way than they would be alone"
    yield equivalent("borrowing, remote_slowdown - 1", longer, equivalent_mean(slower, (0.0, ALL)))


def _bottleneck(evidence: Evidence) -> Iterator[Finding]:
    for name, gap in (("a request in 10 us", FAST), ("a request in 100 us", SLOW)):
        workload = {"synthetic": "data_parallel", "iterations": 3, "gap": gap}
        boards = {"vary": [ONE, MACHINE]}
        runs = evidence.runs(f"pool_clients_{name[13:-3]}", {**experiment(workload, SERVICE), "machine": boards})
        one, eight = runs.points
        yield ratio(
            runs, one, eight, "latency_mean_ns", (GROWS, ALL), f"eight clients wait {GROWS:g} times one's", name
        )


OBJECTIONS = [
    Claim("H5.10", "borrowing makes lenders fail later, and links slower", "spec 5", lambda e: [*_lender(e)]),
    Claim("H5.11", "the service is a bottleneck for many clients", "spec 5", lambda e: [*_bottleneck(e)]),
]
