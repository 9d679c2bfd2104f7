"""H3.14, H3.15 and H3.18: the choice of a module by what is left and by what has run (Em. 9 and 10)."""

from __future__ import annotations

from typing import Any

from workbench.experiments.run_set import RunSet
from workbench.levers import read_spec
from workbench.machine import Machine
from workbench.machine.power import Power
from workbench.policies.dispatch.choice.weighted_choice import InstructionCalibrator, ResourceCalibrator, Trial, metered
from workbench.studies.claims.cases import better
from workbench.studies.claims.claim import Claim
from workbench.studies.claims.dispatch.experiment import MACHINE, POWER, QUEUED, experiment, groups
from workbench.studies.claims.evidence import Evidence, point
from workbench.studies.statistics import Finding


def residual() -> dict[str, Any]:
    """Return most residual with calibrated weights, as the document's calibration finds them block by block (R79).

    No power model of ours knows what a reserved block draws, so that the meter is an assumption: power in proportion to
    the bytes that a block reserves, CONTEXT_BYTES for a slot.
    """
    machine = Machine.read(MACHINE)
    bytes_of = {
        "vgpr": 4 * machine.wave_size * machine.vgpr_granule,
        "sgpr": 4 * machine.sgpr_granule,
        "shared": machine.granule_bytes,
    }
    names = [resource.label for resource in machine.resources()]

    def measure(trial: Trial) -> float:
        held = zip(names, trial.demand, strict=True) if trial.demand else ()
        return float(1 + trial.tasks * sum(amount * bytes_of.get(name, CONTEXT_BYTES) for name, amount in held))

    weights = read_spec(ResourceCalibrator, {}).calibrate(measure, names).weights
    return {"most_residual": {"weights": list(weights), "normalise": False}}


CONTEXT_BYTES = 64
"""Of a wave's or a workgroup's slot: program counter, masks, identifiers."""
LOADS = {"load 0.5": {"poisson_load": 0.5}, "load 0.9": {"poisson_load": 0.9}, "all queued": QUEUED}
RAW, NORMALISED = "most_residual(normalise=False)", "most_residual(normalise=True)"
RESIDUAL = {"most_residual": {"normalise": {"vary": [False, True]}}}
EMPTIEST_AT = (0.7, 0.9)


def calibrated(nx: Any = 1024) -> dict[str, Any]:
    """Return least recent energy with the weights that the document's calibration finds (R79) for the power that is
    drawn."""
    weights = read_spec(InstructionCalibrator, {}).calibrate(metered(Power.read(POWER["power"]))).weights
    return {"least_recent_energy": {"weights": list(weights), "nx": nx}}


def _runs(evidence: Evidence, load: str) -> RunSet:
    choices = {"vary": ["round_robin", residual(), calibrated()]}
    return evidence.runs(f"dispatch_choice_{load}", experiment(groups(arrival=LOADS[load]), POWER, choice=choices))


def _residual(evidence: Evidence) -> list[Finding]:
    """Return the cases of evenness at part load, and of throughput where more waits than fits, for else it is that of
    the arrivals."""
    findings = []
    for load in LOADS:
        runs = _runs(evidence, load)
        first, most, _ = runs.points
        measures = ["utilisation_cv_over_time", "power_cv"] if load != "all queued" else ["groups_per_kilocycle"]
        findings += [better(runs, first, most, measure, load) for measure in measures]
    return findings


def _recent(evidence: Evidence) -> list[Finding]:
    findings = []
    for load in LOADS:
        runs = _runs(evidence, load)
        *others, recent = runs.points
        findings += [
            better(runs, other, recent, measure, f"{load}, against {name}")
            for name, other in zip(("round robin", "most residual"), others, strict=True)
            for measure in ("power_cv", "temperature_spread_k")
        ]
    return findings


def _emptiest(evidence: Evidence) -> list[Finding]:
    findings = []
    for load in EMPTIEST_AT:
        workload = {"regime": "large_groups", "arrival": {"poisson_load": load}}
        sweep = experiment(workload, choice={"vary": [RESIDUAL, "best_fit_module"]})
        runs = evidence.runs(f"dispatch_emptiest_{load:g}", sweep)
        best = point(runs, choice="best_fit_module")
        findings += [
            better(runs, point(runs, choice=rule), best, "large_refused_rate", f"load {load:g}, against {rule}")
            for rule in (RAW, NORMALISED)
        ]
    return findings


MODULES = [
    Claim(
        "H3.14",
        "most residual with calibrated weights balances modules better than round robin",
        "¶238, ¶246 and ¶258",
        _residual,
        design="loads 0.5 and 0.9, and everything queued",
    ),
    Claim(
        "H3.15",
        "least recent energy gives more even power and heat than most residual and round robin",
        "¶12, ¶261 and ¶283",
        _recent,
    ),
    Claim(
        "H3.18",
        "the emptiest module fragments capacity: best fit refuses large groups less often",
        "objection of spec 3 to ¶246",
        _emptiest,
    ),
]
