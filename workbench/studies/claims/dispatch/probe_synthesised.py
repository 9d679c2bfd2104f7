"""H3.8 to H3.12 once more, with circuits as a synthesiser makes them in the place of gates as they are written."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from workbench.policies.probes import Probe
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.probe_accuracy import ASKED, DENSITIES, LONGEST, OCCUPIED, capped, unaffordable
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.registered import margin
from workbench.studies.claims.synthesised import area, counts, cycle, smaller
from workbench.studies.probe_success import Setting, lost_dispatches, octave_lengths, under_report
from workbench.studies.statistics import Finding, fact

HIGHER = margin("H3.9b clock")
SIZES = (16, 32, 64, 128)
"""Up to the document's own blocks."""
BUDGETS = (32, 64)
"""Groups of 128 blocks whose area a sampled probe may have."""
RESOURCES = ((64, 32), (64, 32, 24), (128, 64), (128, 64, 48))
"""The blocks of the machine's two resources and of the document's three, behind half of each."""
MASKS = ("every_shift", "first_crossing")


def _probe(name: str, **levers: Any) -> Any:
    return Probe.read({name: levers})


def _sooner(evidence: Evidence) -> Iterator[Finding]:
    for blocks in SIZES:
        scan = blocks * cycle(_probe("bit_serial"), blocks)
        whole, serial = area((_probe("exact_run"), blocks)), area((_probe("bit_serial"), blocks))
        report = cycle(_probe("exact_run"), blocks)
        note = (
            f"{report:.3g} FO4 against {blocks} cycles of {scan / blocks:.3g} FO4 each; an area of {whole:.5g} against "
            f"{serial:.5g}"
        )
        finding = fact(f"N = {blocks}", "a report sooner", report < scan, estimate=scan / report, note=note)
        yield finding._replace(measure="time of a scan over that of one cycle")


def _timings(evidence: Evidence) -> Iterator[Finding]:
    for chain, blocks in product(("running", "doubling"), SIZES):
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
    for blocks, (name, rival) in product(SIZES, rivals.items()):
        grouped = _probe("grouped_run", groups=blocks // 4)
        own, other = area((grouped, blocks)), area((rival, blocks))
        delays = [counts(probe, blocks).relative_delay for probe in (grouped, rival)]
        note = f"an area of {own:.5g} against {other:.5g}, {delays[0]:.3g} FO4 against {delays[1]:.3g}"
        yield smaller(f"N = {blocks}, against {name}", own, other, note)


def _sampled(evidence: Evidence) -> Iterator[Finding]:
    """Yield, at each budget of area, the case of the largest sampled probe within it, whatever it then loses."""
    for groups, occupied in product(BUDGETS, OCCUPIED):
        grouped, setting = _probe("grouped_sampled_run", **capped(groups)), Setting(free=1 - occupied)
        case = f"the area of Z = {groups}, {100 * occupied:g} % occupied"
        most = area((grouped, setting.blocks))
        sampled = within_area(most, setting.blocks)
        if sampled is None:
            yield unaffordable(case, f"an area of {most:.5g}")
            continue
        (short, lost), (its_short, its_lost) = (_misses(probe, setting) for probe in (grouped, sampled))
        note = (
            f"sampled at {len(sampled.run_lengths)} lengths falls short by {its_short:.3g} blocks and loses "
            f"{its_lost:.3g} of the dispatches, grouped by {short:.3g} and {lost:.3g}"
        )
        lower = its_short < short and its_lost < lost
        statement = "lower under-report and fewer lost dispatches"
        finding = fact(case, statement, lower, estimate=lost - its_lost, note=note)
        yield finding._replace(measure="lost dispatches saved", unit="share of dispatches")


def _misses(probe: Any, setting: Setting) -> tuple[float, float]:
    return under_report(probe, setting), lost_dispatches(probe, ASKED, setting)


def within_area(most: float, blocks: int) -> Any:
    """Return the sampled probe with the most area of those within a bound; None where there is none."""
    probes = [_probe("sampled_run", run_lengths=octave_lengths(LONGEST, n)) for n in DENSITIES]
    return max((p for p in probes if area((p, blocks)) <= most), key=lambda p: area((p, blocks)), default=None)


def _shared(rival: Any) -> Iterator[Finding]:
    for sizes, masks in product(RESOURCES, MASKS):
        probe = _probe("shared_run", width=max(sizes), masks=masks)
        together, apart = area((probe, sizes)), area(*((rival, size) for size in sizes))
        periods = probe.schedule(sizes).periods
        note = f"an area of {together:.5g} against {apart:.5g}; {periods} periods a round"
        if periods == len(sizes):
            note += ", one a resource: no bit crosses, and no mask is needed"
        yield smaller(f"{' and '.join(map(str, sizes))} blocks, {masks.replace('_', ' ')}", together, apart, note)


PROBE_SYNTHESISED = [
    Claim(
        "H3.8c",
        "as synthesised, an exact report in one cycle is there sooner than a scan",
        "¶102 and ¶122",
        lambda e: list(_sooner(e)),
        kind="counted",
        design="4 sizes",
    ),
    Claim(
        "H3.9c",
        "as synthesised, one cycle is smaller than three, and three, cut where the source document cuts (behind the "
        f"shifts and behind the chain), allow a clock {HIGHER:g} times as high",
        "¶113-114",
        lambda e: list(_timings(e)),
        kind="counted",
        design="2 chains x 4 sizes, up to the document's 128 blocks",
        mark="-cut-128",
    ),
    Claim(
        "H3.10c",
        "as synthesised, groups of four shrink the probe, also against the smallest exact one of one cycle",
        "¶150-155",
        lambda e: list(_grouped(e)),
        kind="counted",
        design="4 sizes x 2 exact probes",
    ),
    Claim(
        "H3.11b",
        "sampling loses less than grouping at equal area as synthesised and equal range",
        "¶170 and ¶182",
        lambda e: list(_sampled(e)),
        kind="counted",
        design="2 budgets of area x 3 occupancies; both tell runs up to 16 blocks; probes chosen by budget",
        mark="-range",
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
