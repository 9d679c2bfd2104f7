"""A claim on the placement of this package."""

import workbench as wb
from workbench.claims.cases import point
from workbench.statistics import superior
from workbench.statistics.comparisons import compared

SWEEP = {
    "engine": "shared_memory",
    "workload": "large_uniform",
    "policy": {"placement": {"vary": ["first_fit", "gap_fit"]}},
}


def parts(evidence):
    """Return the finding."""
    runs = evidence.runs("guest_drain", SWEEP)
    first, other = (point(runs, placement=name) for name in ("first_fit", "gap_fit"))
    return [superior("large_uniform", "drains sooner", compared(runs, first, other, "drain_cycles"))]


G1 = wb.Claim("G1", "the same queue drains sooner than under first fit", "the tests", parts)
