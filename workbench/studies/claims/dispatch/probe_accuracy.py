"""H3.10 and H3.11: what grouped and sampled probes lose (Em. 5 and 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.experiments.plan import PlannedPoint
from workbench.experiments.run_set import RunSet
from workbench.policies.probes import Probe
from workbench.studies.claims.cases import ratio
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import BLOCKS, QUEUED, REGISTERS, experiment, groups
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.registered import margin
from workbench.studies.probe_success import Setting, failure, lost_dispatches, octave_lengths, under_report
from workbench.studies.statistics import Finding, fact

NEGLIGIBLE = margin("H3.10 negligible")
"""Of dispatches (spec 3, H3.10)."""
GROUPED: Any = {"grouped_run": {"groups": 32}}
"""The document's example: groups of 4 of 128 blocks (¶151)."""
OCCUPIED = (0.3, 0.5, 0.6)
DEMANDS = (range(1, 5), range(5, 9), range(9, 17))
UNIT_DEMANDS = [16, 17, 32, 33]
"""Blocks of four waves, one a unit: at a multiple of the group size and just above."""
EQUAL_GATES = [32, 64]
"""Groups whose gates are enough for a sampled probe of the demands; the document's example, and the next."""
ASKED = range(1, 17)
"""Blocks of a unit, each demand as likely as another."""
LONGEST, DENSITIES = 16, (1, 2, 4, 8, 16)
"""Sampled probes: the longest run that they tell apart, the largest demand (E14), and how many run lengths lie between
one power of two and the next."""


def _exactly(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the document's own model of independent blocks, without drawing (¶151-154)."""
    for occupied in OCCUPIED:
        setting = Setting(free=1 - occupied)
        for demands in DEMANDS:
            lost = {n: _lost(n, setting) for n in demands}
            worst = max(lost, key=lambda n: lost[n])
            name = f"{100 * occupied:g} % occupied, demands {demands[0]} to {demands[-1]}"
            note = f"at demand {worst} the chance that the machine serves it falls by {lost[worst]:.3g}"
            few = lost[worst] <= NEGLIGIBLE
            finding = fact(name, "at most 1 % of dispatches lost", few, estimate=lost[worst], n=len(lost), note=note)
            yield finding._replace(measure="lost dispatches", unit="share of dispatches")


def _lost(demand: int, setting: Setting) -> float:
    grouped, exact = (failure(Probe.read(probe), demand, setting).machine for probe in (GROUPED, "exact_run"))
    return grouped.failure - exact.failure


def _dispatched(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the dispatcher itself, where the free blocks are what placement leaves."""
    probes = {"vary": ["exact_run", GROUPED]}
    mixed = evidence.runs("dispatch_grouped_mixed", experiment(REGISTERS, probe=probes))
    alike = groups(1000, waves=4, vgpr_blocks={"vary": UNIT_DEMANDS}, sgpr_blocks=2, arrival=QUEUED)
    cliff = evidence.runs("dispatch_grouped_cliff", experiment(alike, probe=probes))
    yield _as_fast("mixed demands", mixed, *mixed.points)
    for n in UNIT_DEMANDS:
        alike_points = (p for p in cliff.points if p.coordinates["workload.vgpr_blocks"] == n)
        yield _as_fast(f"demand {n}", cliff, *alike_points)


def _as_fast(name: str, runs: RunSet, exact: PlannedPoint, grouped: PlannedPoint) -> Finding:
    band = (1 - NEGLIGIBLE, 1 + NEGLIGIBLE)
    return ratio(runs, exact, grouped, "groups_per_kilocycle", band, "within 1 % of the exact probe's", name)


def capped(groups: int) -> dict[str, Any]:
    """Return the levers of a grouped probe that says no more than a sampled one: runs up to `LONGEST` blocks.

    >>> capped(32)
    {'groups': 32, 'run_lengths': (1, 2, 3, 4)}
    """
    return {"groups": groups, "run_lengths": tuple(range(1, LONGEST * groups // BLOCKS + 1))}


def _sampled(evidence: Evidence) -> Iterator[Finding]:
    """Yield, at each number of groups, the case of the sampled probe that the gates of a grouped one of equal range pay
    for: chosen by budget, whatever it then loses."""
    for z in EQUAL_GATES:
        gates, grouped = _priced("grouped_sampled_run", **capped(z))
        affordable = within_budget(gates)
        for occupied in OCCUPIED:
            name = f"Z = {z} ({gates} gates), {100 * occupied:g} % occupied"
            if affordable is None:
                yield unaffordable(name, f"{gates} gates")
            else:
                yield _against(name, grouped, affordable[1], affordable[0], Setting(free=1 - occupied))


def unaffordable(name: str, budget: str) -> Finding:
    """Return the case that no sampled probe costs as little as the grouped one of equal range."""
    note = f"no sampled probe of runs up to {LONGEST} blocks has {budget} or fewer, as the grouped one has"
    finding = fact(name, "lower under-report and fewer lost dispatches", False, note=note)
    return finding._replace(measure="lost dispatches saved", unit="share of dispatches")


def within_budget(gates: int) -> tuple[int, Probe] | None:
    """Return the gates and the probe: the shortest run lengths that cover the demands, as dense as the gates allow.

    None where the gates pay for none.
    """
    affordable = (_priced("sampled_run", run_lengths=octave_lengths(LONGEST, n)) for n in DENSITIES)
    return max((one for one in affordable if one[0] <= gates), key=lambda one: one[0], default=None)


def _priced(name: str, **levers: Any) -> tuple[int, Probe]:
    probe = Probe.read({name: {"chain": "doubling", "decode": "scan", **levers}})
    return probe.cost(BLOCKS).gates, probe


def _against(name: str, grouped: Probe, sampled: Probe, gates: int, setting: Setting) -> Finding:
    (short, its_short), (lost, its_lost) = (
        [value(probe) for probe in (grouped, sampled)]
        for value in (lambda p: under_report(p, setting), lambda p: lost_dispatches(p, ASKED, setting))
    )
    note = (
        f"sampled with {gates} gates falls short by {its_short:.3g} blocks and loses {its_lost:.3g} of the dispatches, "
        f"grouped by {short:.3g} and {lost:.3g}"
    )
    lower = its_short < short and its_lost < lost
    finding = fact(name, "lower under-report and fewer lost dispatches", lower, estimate=lost - its_lost, note=note)
    return finding._replace(measure="lost dispatches saved", unit="share of dispatches")


PROBE_ACCURACY = [
    Claim(
        "H3.10",
        "grouping has a negligible effect on matching, in the document's own model",
        "¶150-155",
        lambda e: [*_exactly(e)],
        kind="counted",
        design="3 occupancies x 3 ranges of demands",
    ),
    Claim(
        "H3.10b",
        "grouping has a negligible effect on the dispatcher",
        "¶150-155",
        lambda e: [*_dispatched(e)],
        design="mixed demands, and demands at and above a multiple of the group",
    ),
    Claim(
        "H3.11",
        "sampling loses less than grouping at equal gates and equal range",
        "¶170 and ¶182",
        lambda e: list(_sampled(e)),
        kind="counted",
        design="2 budgets of gates x 3 occupancies; both tell runs up to 16 blocks; probes chosen by budget",
        mark="-range",
    ),
]
