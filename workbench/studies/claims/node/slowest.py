"""H6.4: what the slowest 5 % of groups wait for most, by family: a chunk of the heap, or a walker."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.metrics.node import TIMES
from workbench.studies.claims.cases import of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, finite
from workbench.studies.claims.node.experiment import FAMILIES, experiment
from workbench.studies.statistics import Finding, compare, superior

SMALL, CHUNK, WALKERS = "small_kernels", "heap_chunk", "walkers"
WAITS = tuple(name for name in TIMES if name not in ("compute", "channel"))
"""The waits for a mechanism: all parts of a group's time but its work and its turn."""


def _largest(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a family and other wait: the one that is claimed to be the largest is larger."""
    for family in FAMILIES:
        runs = evidence.runs(f"node_slowest_{family}", experiment(family, serve="per_thread"))
        (single,) = runs.points
        largest = CHUNK if family == SMALL else WALKERS
        parts = {name: finite(runs, single, f"group_slowest_{name}_cycles") for name in WAITS}
        for other in (name for name in WAITS if name != largest):
            one = compare(parts[other], parts[largest], names=(other, largest), better="higher")
            case = superior(f"{family}, {largest} over {other}", "larger wait of the slowest 5 %", one)
            yield of(runs, case, f"group_slowest_{largest}_cycles less {other}", "cycles")


SLOWEST = [
    Claim(
        "H6.4",
        "the slowest 5 % of groups wait longest for growth of device heaps with small kernels, else for walkers",
        "spec 6",
        lambda e: [*_largest(e)],
        design="five families, eight other waits",
        slow=True,
        mark="-slowest-median",
    )
]
