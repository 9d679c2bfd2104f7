"""H5.10 and H5.11: borrowing costs the lender, and the service is a bottleneck."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import ALL, better, of, ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite, point
from workbench.studies.claims.pool.experiment import DRIVER, GROWING, MACHINE, experiment
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, equivalent, median_within

ALONE, LENDING = "local_only", "max_bandwidth"
SERVICE = {**dict.fromkeys(DRIVER, 0), "ipc_ns": 5_000, "service_ns": 2_000}
"""From a client to the service and back, and its work: assumptions; a driver that takes no time, to see it alone."""
GAPS = {"10 us": [8_000, 12_000], "100 us": [80_000, 120_000]}
"""Nanoseconds between the requests of one client."""
ONE = {"cards": [{"id": "cpu0", "kind": "cpu"}, {"id": "gpu0"}], "links": [{"between": "cpu0 gpu0", "gbps": 16.0}]}
"""A board of one GPU, whose application is the only client."""
GROWS = margin("H5.11 grows")
"""Waiting counts as a bottleneck when eight clients wait so many times as long as one."""


def _lender(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("pool_lender", experiment(GROWING, target={"vary": [ALONE, LENDING]}))
    alone, lending = (point(runs, target=name) for name in (ALONE, LENDING))
    yield better(runs, lending, alone, "lender_failure_rate", "without borrowing")
    slower = [value - 1 for value in finite(runs, lending, "remote_slowdown").values()]
    longer = "borrowed data are longer under way than they would be alone"
    finding = equivalent("borrowing, remote_slowdown - 1", longer, median_within(slower, (0.0, ALL)))
    yield of(runs, finding, "remote_slowdown - 1", "share of the time alone")


def _bottleneck(evidence: Evidence) -> Iterator[Finding]:
    says = f"eight clients wait more than {GROWS:g} times as long as one"
    for name, gap in GAPS.items():
        workload = {"synthetic": "data_parallel", "iterations": 3, "gap": {"uniform": gap}}
        boards = {"vary": [ONE, MACHINE]}
        runs = evidence.runs(f"pool_clients_{name[:-3]}", {**experiment(workload, SERVICE), "machine": boards})
        one, eight = runs.points
        yield ratio(runs, one, eight, "latency_mean_ns", (GROWS, ALL), says, f"a request in {name} each")


OBJECTIONS = [
    Claim(
        "H5.10",
        "borrowing makes lenders fail later, and links slower",
        "spec 5",
        lambda e: [*_lender(e)],
        kind="by_construction",
        design="what is lent is not there for its lender, and what shares a link waits: how much, on a DGX-1V",
    ),
    Claim(
        "H5.11",
        "the service is a bottleneck for many clients",
        "spec 5",
        lambda e: [*_bottleneck(e)],
        kind="by_construction",
        design="one queue serves all: by how much eight clients wait longer, at two paces; H5.11b is the real one",
    ),
]
