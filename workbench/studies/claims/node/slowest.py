"""H6.4: what the slowest groups wait for most, by family: a chunk of the heap, or a walker."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.metrics.node_times import TIMES
from workbench.studies.claims.cases import of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite
from workbench.studies.claims.node.experiment import FAMILIES, experiment
from workbench.studies.statistics import Finding, compare, superior

SMALL, CHUNK, WALKERS = "small_kernels", "heap_chunk", "walkers"


def _largest(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a family and other part: the part that is claimed to be the largest is larger."""
    for family in FAMILIES:
        runs = evidence.runs(f"node_slowest_{family}", experiment(family, serve="per_thread"))
        (single,) = runs.points
        largest = CHUNK if family == SMALL else WALKERS
        parts = {name: finite(runs, single, f"group_p99_{name}_cycles") for name in TIMES}
        for other in (name for name in TIMES if name != largest):
            one = compare(parts[other], parts[largest], names=(other, largest), better="higher")
            case = superior(f"{family}, {largest} over {other}", "larger part of p99", one)
            yield of(runs, case, f"group_p99_{largest}_cycles less {other}", "cycles")


SLOWEST = [
    Claim(
        "H6.4",
        "growth of device heaps is the largest part of p99 for small kernels, else waiting for walkers is",
        "spec 6",
        lambda e: [*_largest(e)],
        design="five families, ten other parts",
        slow=True,
    )
]
