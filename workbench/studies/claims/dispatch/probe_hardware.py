"""H3.8 and H3.9: the exact probe's cycles and its two timings, counted on generated circuits, and their worth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from workbench.policies.probes import Probe
from workbench.policies.probes.contract import asks, states
from workbench.policies.probes.question import ProbeCost
from workbench.policies.scenes import Speaker
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import REGISTERS, experiment, groups
from workbench.studies.claims.evidence import Evidence
from workbench.studies.claims.registered import margin
from workbench.studies.statistics import Finding, fact

HIGHER = margin("H3.9b clock")
SIZES = (16, 64, 128, 512)
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
    for blocks in SIZES:
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
        for cycles, point in zip((1, 3), fixed, strict=True):
            for measure in ("makespan_cycles", "wait_mean_cycles"):
                yield better(runs, scan, point, measure, f"{load}, {cycles} cycles against a scan")


def _timings(evidence: Evidence, higher: float = 1.0) -> Iterator[Finding]:
    """Yield the cases of gates and registers, which stand for area and for what switches at a low clock, and of the
    deepest stage, which sets the clock."""
    for chain, blocks in itertools.product(("running", "doubling"), SIZES):
        one, three = (_cost(blocks, chain=chain, timing=timing) for timing in ("comb_1cycle", "pipe_3cycle"))
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


def _cost(blocks: int, **levers: str) -> ProbeCost:
    return Probe.read({"exact_run": levers}).cost(blocks)


PROBE_HARDWARE = [
    Claim(
        "H3.8",
        "the probe takes one or three cycles, not a scan",
        "¶102 and ¶122",
        lambda e: list(_cycles(e)),
        kind="by_construction",
        design="4 sizes, 500 free maps each",
    ),
    Claim(
        "H3.8b",
        "a probe of one or three cycles dispatches sooner than a scan",
        "¶102 and ¶122",
        lambda e: list(_dispatches_sooner(e)),
        design="everything queued, load 0.9, and long groups at load 0.5 x 1 and 3 cycles, 2 measures",
    ),
    Claim(
        "H3.9",
        "the one-cycle form is smaller, the three-cycle form has fewer gate levels a cycle",
        "¶113-114",
        lambda e: list(_timings(e)),
        kind="by_construction",
        design="2 chains x 4 sizes",
    ),
    Claim(
        "H3.9b",
        f"three cycles allow a clock at least {HIGHER:g} times as high",
        "¶113-114",
        lambda e: list(_timings(e, HIGHER)),
        kind="counted",
        design="2 chains x 4 sizes",
    ),
]
