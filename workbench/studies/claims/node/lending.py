"""H6.3: the lender with the fastest path is best in the pool alone, and not in the node."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.node.experiment import TIME, experiment
from workbench.studies.claims.pool import experiment as pool
from workbench.studies.statistics import Finding, every, some

FAST, RIVALS = "max_bandwidth", ("most_free", "round_robin", "random_card")
BORROWING = ("training", "stencil", "gather")
"""Families whose applications need more than the first card has."""
AT_LEISURE = {**pool.FULL, "gap": {"log_uniform": [10**6, 10**8]}}
"""The pool alone, asked as in H5.5: a block in tens of milliseconds."""
EACH = {"vary": [FAST, *RIVALS]}


def _alone(evidence: Evidence, rival: str) -> Finding:
    """Return the case that borrowed data are faster over the fastest path, in the pool alone."""
    runs = evidence.runs("node_lending_alone", pool.experiment(AT_LEISURE, target=EACH))
    first, other = point(runs, target=rival), point(runs, target=FAST)
    return better(runs, first, other, "remote_access_mean_ns", f"pool alone, against {rival}")


def _in_node(evidence: Evidence, family: str, rival: str) -> Finding:
    """Return the case that a rival's makespan is shorter in the node."""
    runs = evidence.runs(f"node_lending_{family}", experiment(family, target=EACH))
    return better(runs, point(runs, target=FAST), point(runs, target=rival), TIME, f"{family}, {rival}")


def _reverses(evidence: Evidence) -> Iterator[Finding]:
    """Yield a case a family and rival: worse than the fastest path in the pool alone, better in the node."""
    for family in BORROWING:
        for rival in RIVALS:
            about = f"{family}, {rival} instead of {FAST}"
            parts = [_alone(evidence, rival), _in_node(evidence, family, rival)]
            yield every(about, "loses in the pool alone, gains in the node", parts)


LENDING = [
    Claim(
        "H6.3",
        "the lender by bandwidth, best in the pool alone, is not best in the node",
        "spec 6",
        lambda e: [*_reverses(e)],
        joined=some,
        design="three families that borrow, three rivals",
        slow=True,
    )
]
