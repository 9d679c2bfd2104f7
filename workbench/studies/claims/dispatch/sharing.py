"""H3.12: one probe for several resources in turn (Em. 7): the gates that it saves, the dispatches that it delays."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.experiments.run_set import RunSet
from workbench.policies.probes.shared.masks import pack
from workbench.policies.probes.shared.netlist import SharedCost, shared_cost
from workbench.studies.claims.cases import better, no_worse
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import BLOCKS, REGISTERS, experiment
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, fact

RESOURCES = {"the document's 128, 64 and 48 blocks": (128, 64, 48), "the machine's 128 and 64 blocks": (128, 64)}
MARGIN = margin("H3.12 slower")
"""By how much longer the same queue may take."""
STALE = ("keep", "forget")


def _gates(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of gates: the document counts the chain alone; its masks, one a shift, are gates as well."""
    for name, blocks in RESOURCES.items():
        period = pack(blocks, BLOCKS).tolist()
        yield _saved(name, shared_cost(period, blocks, BLOCKS), "masks of every shift")
        yield _saved(name, shared_cost(period, blocks, BLOCKS, "first_crossing"), "masks of the first crossings")


def _saved(name: str, cost: SharedCost, masks: str) -> Finding:
    note = (
        f"{cost.saved:.1%} of the chain's gates saved, {cost.saved_with_masks:.1%} with the masks, "
        f"{cost.saved_in_all:.1%} of all; {cost.periods} periods a round"
    )
    saved = cost.saved_in_all
    return fact(f"{name}, {masks}", "fewer gates in all", saved > 0, estimate=saved, note=note)._replace(
        measure="gates saved", unit="share of all"
    )


def _runs(evidence: Evidence) -> RunSet:
    shared = {"shared_run": {"stale": {"vary": list(STALE)}}}
    return evidence.runs("dispatch_sharing", experiment(REGISTERS, probe={"vary": ["exact_run", shared]}))


def _demand_met(evidence: Evidence) -> list[Finding]:
    runs = _runs(evidence)
    first = point(runs, probe="exact_run")
    return [
        no_worse(runs, first, point(runs, stale=stale), "makespan_cycles", MARGIN, f"old reports: {stale}")
        for stale in STALE
    ]


def _costs(evidence: Evidence) -> list[Finding]:
    runs = _runs(evidence)
    first = point(runs, probe="exact_run")
    return [
        better(runs, first, point(runs, stale=stale), measure, f"old reports: {stale}")
        for stale in STALE
        for measure in ("wait_mean_cycles", "over_promised")
    ]


SHARING = [
    Claim(
        "H3.12",
        "a shared probe saves gates",
        "¶185 and ¶210",
        lambda e: [*_gates(e)],
        kind="counted",
        design="2 sets of resources x 2 kinds of masks",
    ),
    Claim(
        "H3.12b",
        "a shared probe meets the demand: the same queue takes no longer",
        "¶185 and ¶210",
        _demand_met,
        costs=_costs,
        design="2 rules for old reports",
    ),
]
