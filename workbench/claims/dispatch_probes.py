"""H3.8 to H3.12: what probes cost, what they lose, and what sharing one saves (spec 3, section 6).

- H3.8 and H3.9: the exact probe's cycles and its two timings, counted on generated circuits, and their worth.
- H3.10 and H3.11: what grouped and sampled probes lose (Em. 5 and 6).
- H3.12: one probe for several resources in turn (Em. 7): the gates that it saves, the dispatches that it delays.

All are counted once more, with circuits as a synthesizer makes them in the place of gates as they are written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from itertools import product
from typing import Any

from workbench.claims.cases import (
    all_better,
    area,
    better,
    counts,
    cycle,
    margin,
    no_worse,
    point,
    ratio,
    smaller,
)
from workbench.claims.claim import Claim, Evidence
from workbench.claims.dispatch_setting import BLOCKS, QUEUED, REGISTERS, SOONER, experiment, groups
from workbench.experiments.results import Results
from workbench.explain.probe_success import Setting, lost_dispatches, octave_lengths, under_report
from workbench.policies.probes.contract import asks, states
from workbench.policies.probes.question import Probe
from workbench.policies.probes.shared_gates import pack
from workbench.policies.probes.shared_netlist import SharedCost, shared_cost
from workbench.policies.scenes import Speaker
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding, fact

HIGHER = margin("H3.9b clock")
HARDWARE_SIZES = (16, 64, 128, 512)


LOADS = {
    "queued": REGISTERS,
    "load 0.9": groups(arrival={"poisson_load": 0.9}),
    "long groups": groups(1000, duration={"uniform": [1000, 10_000]}, arrival={"poisson_load": 0.5}),
}
"""In the last the machine is half empty and groups run a hundred times as long as a scan takes."""
STATES = 500
"""Free maps of each size on which the reports are compared."""


def _cycles(evidence: Evidence) -> Iterator[Finding]:
    exact, stepped, serial = map(Probe.read, ("exact_run", {"exact_run": {"timing": "pipe_3cycle"}}, "bit_serial"))
    for blocks in HARDWARE_SIZES:
        cycles = [probe.cost(blocks).cycles for probe in (exact, stepped, serial)]
        one, other = Speaker(exact).ask, Speaker(serial).ask
        differ = sum(one(asks(free, blocks)) != other(asks(free, blocks)) for free in states(blocks, STATES))
        note = "{} or {} cycles against {} of a scan; ".format(*cycles) + f"{differ} of {STATES} reports differ"
        fixed = cycles == [1, 3, blocks] and not differ
        yield fact(f"N = {blocks}", "one or three cycles, same reports", fixed, estimate=cycles[0], note=note)._replace(
            measure="cycles", unit="cycles"
        )


def _dispatches_sooner(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of the engine that waits for the probe: a round takes as many cycles as the probe does."""
    for load, workload in LOADS.items():
        probes = {"vary": ["bit_serial", "exact_run", {"exact_run": {"timing": "pipe_3cycle"}}]}
        runs = evidence.runs(f"dispatch_probe_cycles_{load.split()[0]}", experiment(workload, probe=probes))
        scan, *fixed = runs.points
        for cycles, other in zip((1, 3), fixed, strict=True):
            yield from all_better(runs, scan, other, SOONER, f"{load}, {cycles} cycles against a scan")


def _hardware_timings(evidence: Evidence, higher: float = 1.0) -> Iterator[Finding]:
    """Yield the cases of gates and registers, which stand for area and for what switches at a low clock, and of the
    deepest stage, which sets the clock."""
    for chain, blocks in itertools.product(("running", "doubling"), HARDWARE_SIZES):
        timings = (_probe("exact_run", chain=chain, timing=timing) for timing in ("comb_1cycle", "pipe_3cycle"))
        one, three = (probe.cost(blocks) for probe in timings)
        clock = three.relative_clock / one.relative_clock
        note = (
            f"{one.gates} gates and {one.registers} registers against {three.gates} and {three.registers}; "
            f"{one.period} gate levels a cycle against {three.period}, a clock {clock:.2f} times as high"
        )
        smaller = one.gates + one.registers < three.gates + three.registers and one.gates <= three.gates
        true = smaller and clock > higher
        yield fact(
            f"N = {blocks}, {chain} chain",
            "in one cycle smaller, in three faster clocked",
            true,
            estimate=clock,
            note=note,
        )._replace(measure="clock of three cycles over that of one")


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
            lost = {n: lost_dispatches(Probe.read(GROUPED), [n], setting) for n in demands}
            worst = max(lost, key=lambda n: lost[n])
            name = f"{100 * occupied:g} % occupied, demands {demands[0]} to {demands[-1]}"
            note = f"at demand {worst} the chance that the machine serves it falls by {lost[worst]:.3g}"
            few = lost[worst] <= NEGLIGIBLE
            finding = fact(name, "at most 1 % of dispatches lost", few, estimate=lost[worst], n=len(lost), note=note)
            yield finding._replace(measure="lost dispatches", unit="share of dispatches")


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


def _as_fast(name: str, runs: Results, exact: PlannedPoint, grouped: PlannedPoint) -> Finding:
    band = (1 - NEGLIGIBLE, 1 + NEGLIGIBLE)
    return ratio(runs, exact, grouped, "groups_per_kilocycle", band, "within 1 % of the exact probe's", name)


def capped(groups: int) -> dict[str, Any]:
    """Return the levers of a grouped probe that says no more than a sampled one: runs up to `LONGEST` blocks.

    >>> capped(32)
    {'groups': 32, 'run_lengths': (1, 2, 3, 4)}
    """
    return {"groups": groups, "run_lengths": tuple(range(1, LONGEST * groups // BLOCKS + 1))}


def _accuracy_sampled(evidence: Evidence) -> Iterator[Finding]:
    """Yield, at each number of groups, the case of the sampled probe that the gates of a grouped one of equal range pay
    for: chosen by budget, whatever it then loses."""
    for z in EQUAL_GATES:
        budget, grouped = _priced("grouped_sampled_run", **capped(z))
        affordable = within_budget(budget)
        for occupied in OCCUPIED:
            name = f"Z = {z} ({budget} gates), {100 * occupied:g} % occupied"
            if affordable is None:
                yield unaffordable(name, f"{budget} gates")
            else:
                gates, sampled = affordable
                yield _against(name, grouped, sampled, f"with {gates} gates", Setting(free=1 - occupied))


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


def _against(name: str, grouped: Probe, sampled: Probe, how: str, setting: Setting) -> Finding:
    (short, lost), (its_short, its_lost) = (
        (under_report(probe, setting), lost_dispatches(probe, ASKED, setting)) for probe in (grouped, sampled)
    )
    note = (
        f"sampled {how} falls short by {its_short:.3g} blocks and loses {its_lost:.3g} of the dispatches, "
        f"grouped by {short:.3g} and {lost:.3g}"
    )
    lower = its_short < short and its_lost < lost
    finding = fact(name, "lower under-report and fewer lost dispatches", lower, estimate=lost - its_lost, note=note)
    return finding._replace(measure="lost dispatches saved", unit="share of dispatches")


CIRCUIT_SIZES = (16, 32, 64, 128)
"""Up to the document's own blocks."""
BUDGETS = (32, 64)
"""Groups of 128 blocks whose area a sampled probe may have."""
CIRCUIT_RESOURCES = ((64, 32), (64, 32, 24), (128, 64), (128, 64, 48))
"""The blocks of the machine's two resources and of the document's three, behind half of each."""
MASKS = ("every_shift", "first_crossing")


def _probe(name: str, **levers: Any) -> Any:
    return Probe.read({name: levers})


def _sooner(evidence: Evidence) -> Iterator[Finding]:
    for blocks in CIRCUIT_SIZES:
        scan = blocks * cycle(_probe("bit_serial"), blocks)
        whole, serial = area((_probe("exact_run"), blocks)), area((_probe("bit_serial"), blocks))
        report = cycle(_probe("exact_run"), blocks)
        note = (
            f"{report:.3g} FO4 against {blocks} cycles of {scan / blocks:.3g} FO4 each; an area of {whole:.5g} against "
            f"{serial:.5g}"
        )
        finding = fact(f"N = {blocks}", "a report sooner", report < scan, estimate=scan / report, note=note)
        yield finding._replace(measure="time of a scan over that of one cycle")


def _circuit_timings(evidence: Evidence) -> Iterator[Finding]:
    for chain, blocks in product(("running", "doubling"), CIRCUIT_SIZES):
        one, three = (_probe("exact_run", chain=chain, timing=timing) for timing in ("comb_1cycle", "pipe_3cycle"))
        clock = cycle(one, blocks) / cycle(three, blocks)
        areas = [area((probe, blocks)) for probe in (one, three)]
        flip_flops = counts(three, blocks).registers
        note = (
            f"an area of {areas[0]:.5g} against {areas[1]:.5g} with {flip_flops} flip-flops; a clock {clock:.3g} times "
            "as high"
        )
        true = areas[0] < areas[1] and clock >= HIGHER
        case = f"N = {blocks}, {chain} chain"
        statement = "in one cycle smaller, in three faster clocked"
        finding = fact(case, statement, true, estimate=clock, note=note)
        yield finding._replace(measure="clock of three cycles over that of one")


def _grouped(evidence: Evidence) -> Iterator[Finding]:
    rivals = {"the document's exact probe": _probe("exact_run"), "the tree": _probe("prefix_suffix_tree")}
    for blocks, (name, rival) in product(CIRCUIT_SIZES, rivals.items()):
        grouped = _probe("grouped_run", groups=blocks // 4)
        own, other = area((grouped, blocks)), area((rival, blocks))
        delays = [counts(probe, blocks).relative_delay for probe in (grouped, rival)]
        note = f"an area of {own:.5g} against {other:.5g}, {delays[0]:.3g} FO4 against {delays[1]:.3g}"
        yield smaller(f"N = {blocks}, against {name}", own, other, note)


def _circuit_sampled(evidence: Evidence) -> Iterator[Finding]:
    """Yield, at each budget of area, the case of the largest sampled probe within it, whatever it then loses."""
    for budget, occupied in product(BUDGETS, OCCUPIED):
        grouped, setting = _probe("grouped_sampled_run", **capped(budget)), Setting(free=1 - occupied)
        case = f"the area of Z = {budget}, {100 * occupied:g} % occupied"
        most = area((grouped, setting.blocks))
        sampled = within_area(most, setting.blocks)
        if sampled is None:
            yield unaffordable(case, f"an area of {most:.5g}")
        else:
            yield _against(case, grouped, sampled, f"at {len(sampled.run_lengths)} lengths", setting)


def within_area(most: float, blocks: int) -> Any:
    """Return the sampled probe with the most area of those within a bound; None where there is none."""
    probes = [_probe("sampled_run", run_lengths=octave_lengths(LONGEST, n)) for n in DENSITIES]
    return max((p for p in probes if area((p, blocks)) <= most), key=lambda p: area((p, blocks)), default=None)


def _shared(rival: Any) -> Iterator[Finding]:
    for sizes, masks in product(CIRCUIT_RESOURCES, MASKS):
        probe = _probe("shared_run", width=max(sizes), masks=masks)
        together, apart = area((probe, sizes)), area(*((rival, size) for size in sizes))
        periods = probe.schedule(sizes).periods
        note = f"an area of {together:.5g} against {apart:.5g}; {periods} periods a round"
        if periods == len(sizes):
            note += ", one a resource: no bit crosses, and no mask is needed"
        yield smaller(f"{' and '.join(map(str, sizes))} blocks, {masks.replace('_', ' ')}", together, apart, note)


SHARING_RESOURCES = {
    "the document's 128, 64 and 48 blocks": (128, 64, 48),
    "the machine's 128 and 64 blocks": (128, 64),
}
MARGIN = margin("H3.12 slower")
"""By how much longer the same queue may take."""
STALE = ("keep", "forget")


def _gates(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of gates: the document counts the chain alone; its masks, one a shift, are gates as well."""
    for name, blocks in SHARING_RESOURCES.items():
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


def _runs(evidence: Evidence) -> Results:
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


CLAIMS = [
    Claim(
        "H3.8",
        "the probe takes one or three cycles, not a scan",
        "¶102 and ¶122",
        _cycles,
        kind="by_construction",
        design="4 sizes, 500 free maps each",
    ),
    Claim(
        "H3.8b",
        "a probe of one or three cycles dispatches sooner than a scan",
        "¶102 and ¶122",
        _dispatches_sooner,
        design="everything queued, load 0.9, and long groups at load 0.5 x 1 and 3 cycles, 2 measures",
    ),
    Claim(
        "H3.8c",
        "as synthesised, an exact report in one cycle is there sooner than a scan",
        "¶102 and ¶122",
        _sooner,
        kind="counted",
        design="4 sizes",
    ),
    Claim(
        "H3.9",
        "the one-cycle form is smaller, the three-cycle form has fewer gate levels a cycle",
        "¶113-114",
        _hardware_timings,
        kind="by_construction",
        design="2 chains x 4 sizes",
    ),
    Claim(
        "H3.9b",
        f"three cycles allow a clock at least {HIGHER:g} times as high",
        "¶113-114",
        lambda e: _hardware_timings(e, HIGHER),
        kind="counted",
        design="2 chains x 4 sizes",
    ),
    Claim(
        "H3.9c",
        "as synthesised, one cycle is smaller than three, and three, cut where the source document cuts (behind the "
        f"shifts and behind the chain), allow a clock {HIGHER:g} times as high",
        "¶113-114",
        _circuit_timings,
        kind="counted",
        design="2 chains x 4 sizes, up to the document's 128 blocks",
        mark="-cut-128",
    ),
    Claim(
        "H3.10",
        "grouping has a negligible effect on matching, in the document's own model",
        "¶150-155",
        _exactly,
        kind="counted",
        design="3 occupancies x 3 ranges of demands",
    ),
    Claim(
        "H3.10b",
        "grouping has a negligible effect on the dispatcher",
        "¶150-155",
        _dispatched,
        design="mixed demands, and demands at and above a multiple of the group",
    ),
    Claim(
        "H3.10c",
        "as synthesised, groups of four shrink the probe, also against the smallest exact one of one cycle",
        "¶150-155",
        _grouped,
        kind="counted",
        design="4 sizes x 2 exact probes",
    ),
    Claim(
        "H3.11",
        "sampling loses less than grouping at equal gates and equal range",
        "¶170 and ¶182",
        _accuracy_sampled,
        kind="counted",
        design="2 budgets of gates x 3 occupancies; both tell runs up to 16 blocks; probes chosen by budget",
        mark="-range",
    ),
    Claim(
        "H3.11b",
        "sampling loses less than grouping at equal area as synthesised and equal range",
        "¶170 and ¶182",
        _circuit_sampled,
        kind="counted",
        design="2 budgets of area x 3 occupancies; both tell runs up to 16 blocks; probes chosen by budget",
        mark="-range",
    ),
    Claim(
        "H3.12",
        "a shared probe saves gates",
        "¶185 and ¶210",
        _gates,
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
    Claim(
        "H3.12c",
        "as synthesised, a shared probe is smaller than probes of the same kind, one a resource",
        "¶185 and ¶210",
        lambda e: list(_shared(_probe("exact_run"))),
        kind="counted",
        design="4 sets of resources, the document's 128, 64 and 48 blocks among them, x 2 kinds of masks",
        mark="-128",
    ),
    Claim(
        "H3.12d",
        "as synthesised, a shared probe is smaller than a tree a resource",
        "¶185 and ¶210, against section 7's rival",
        lambda e: list(_shared(_probe("prefix_suffix_tree"))),
        kind="counted",
        design="4 sets of resources, the document's 128, 64 and 48 blocks among them, x 2 kinds of masks",
        mark="-128",
    ),
]
