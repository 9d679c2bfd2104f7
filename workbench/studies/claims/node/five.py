"""H6.5: of five mechanisms which buys most, at equal storage bits: every combination, in every family."""

from __future__ import annotations

from typing import Any

from workbench.machine import NodeMachine
from workbench.policies.translation import Directory, equal_area_entries
from workbench.studies.claims.cases import of
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.node.experiment import DIRECTORY, FAMILIES, MACHINE, NONE, POWER, TIME, experiment
from workbench.studies.factorial import Factorial, factorial
from workbench.studies.statistics import Finding, compare, superior

USUAL: dict[str, dict[str, Any]] = {
    "placement": {"placement": "first_fit", "shared_placement": "first_fit"},
    "malloc": {"serve": "per_thread"},
    "dispatch": {
        "priority": "no_priority",
        "selection": {"channel_round_robin": {"among": "all_that_fit"}},
        "stuck": "never_split",
        "choice": "round_robin",
    },
    "translation": {"locate": NONE},
    "pool": {"cache": "no_cache", "target": "round_robin"},
}
"""What open simulators and drivers do, by mechanism (of the dispatcher MGPUSim, `policies/dispatch/__init__.py`)."""
DOCUMENTS: dict[str, dict[str, Any]] = {
    "placement": {"placement": "nearest_boundary", "shared_placement": "nearest_boundary"},
    "malloc": {"serve": "warp_aggregated"},
    "dispatch": {
        "priority": "static_priority",
        "selection": "served_marks",
        "stuck": "split_when_stuck",
        "choice": "weighted_choice",
    },
    "translation": {"locate": DIRECTORY},
    "pool": {"cache": "split_and_coalesce", "target": "max_bandwidth"},
}


MECHANISMS = {policy: mechanism for mechanism, slots in DOCUMENTS.items() for policy in slots.values()}
"""By the name of each document's policy, of which one names the factor."""
MOST_SEEDS = 20
"""Of a design of 32 points a family (spec 6, section 10)."""


def policies() -> dict[str, Any]:
    """Return each mechanism's slots, which step together from the usual answers to the document's."""
    return {
        slot: {"vary": [usual, DOCUMENTS[mechanism][slot]], "zip": mechanism}
        for mechanism, slots in USUAL.items()
        for slot, usual in slots.items()
    }


def machine() -> dict[str, Any]:
    """Return the small node, whose private TLBs are larger without a directory by the bits of one (spec 4, V16)."""
    given = NodeMachine.read(MACHINE).translation
    larger = equal_area_entries(Directory.read("directory"), given.private_entries, given.private_ways, given.cores)
    return {**MACHINE, "private_entries": {"vary": [larger, given.private_entries], "zip": "translation"}}


def _design(evidence: Evidence, family: str) -> tuple[Any, Factorial]:
    config = experiment(family, POWER, machine(), **policies())
    runs = evidence.runs(f"node_five_{family}", config, min(evidence.seeds, MOST_SEEDS))
    return runs, factorial(runs, runs.plan.sweep.mechanism.measures[TIME])


def _effects(evidence: Evidence, size: int) -> list[Finding]:
    """Return the effects of so many factors each, family by family."""
    findings = []
    for family in FAMILIES:
        runs, result = _design(evidence, family)
        for one in (effect for effect in result.effects if len(effect.factors) == size):
            name = f"{family}, {' and '.join(MECHANISMS[factor] for factor in one.factors)}"
            gains = dict(enumerate(one.contrasts.tolist()))
            against = compare(dict.fromkeys(gains, 0.0), gains, names=("none", name), better="higher")
            case = superior(name, "shortens the makespan" if size == 1 else "gain beyond the sum", against)
            findings.append(of(runs, case, f"effect on {TIME}", "% of the usual policies'"))
    return findings


FIVE = [
    Claim(
        "H6.5",
        "each of the five mechanisms shortens the makespan, whatever the other four are; which most is the map",
        "spec 6",
        lambda e: _effects(e, 1),
        costs=lambda e: _effects(e, 2),
        design="five families, main effects of a full 2^5 design; the costs are its interactions",
        slow=True,
    )
]
