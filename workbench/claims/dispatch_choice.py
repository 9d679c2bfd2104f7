"""H3.14 to H3.18: the choice of a module by what is left and by what has run (spec 3, section 6).

- H3.14, H3.15 and H3.18: most residual, least recent energy, and best fit against the emptiest (Em. 9 and 10).
- H3.16 and H3.17: how long the recent past should be, and how much it should weigh (Em. 10 with Em. 9).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.claims.cases import all_better, better, either_better, falling, point
from workbench.claims.claim import Claim, Evidence
from workbench.claims.dispatch_setting import MACHINE, POWER, QUEUED, experiment, groups
from workbench.experiments.results import Results
from workbench.levers import read_spec
from workbench.machine import Machine
from workbench.machine.power import Power
from workbench.policies.dispatch.choice.weighted_choice import InstructionCalibrator, ResourceCalibrator, Trial, metered
from workbench.runs.run import PlannedPoint
from workbench.statistics import Finding


def calibrated_residual() -> dict[str, Any]:
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
JUDGED_BY = {
    "load 0.5": "utilisation_cv_over_time",
    "load 0.9": "utilisation_cv_over_time",
    "all queued": "groups_per_kilocycle",
}
"""The measure of H3.14 at each load, by the rule of `_residual`."""
RAW, NORMALISED = "most_residual(normalise=False)", "most_residual(normalise=True)"
RESIDUAL = {"most_residual": {"normalise": {"vary": [False, True]}}}
EMPTIEST_AT = (0.7, 0.9)


def calibrated_recent(nx: Any = 1024) -> dict[str, Any]:
    """Return least recent energy with the weights that the document's calibration finds (R79) for the power that is
    drawn."""
    weights = read_spec(InstructionCalibrator, {}).calibrate(metered(Power.read(POWER["power"]))).weights
    return {"least_recent_energy": {"weights": list(weights), "nx": nx}}


def _module_runs(evidence: Evidence, load: str) -> Results:
    choices = {"vary": ["round_robin", calibrated_residual(), calibrated_recent()]}
    return evidence.runs(f"dispatch_choice_{load}", experiment(groups(arrival=LOADS[load]), POWER, choice=choices))


def _residual(evidence: Evidence) -> list[Finding]:
    """Return one case a load: the measure that the specification names first of those that the load can tell.

    Spec 3, H3.14 names the variance of utilization, then that of power, then throughput. At part load utilization
    varies between the modules. If everything is queued, every module is full and evenness is given, so that throughput
    alone can tell. At part load throughput is that of the arrivals. The rule was written before a run on the seeds that
    judge.
    """
    return [_residual_case(evidence, load, measure) for load, measure in JUDGED_BY.items()]


def _residual_case(evidence: Evidence, load: str, measure: str) -> Finding:
    runs = _module_runs(evidence, load)
    first, most, _ = runs.points
    return better(runs, first, most, measure, load)


def _power(evidence: Evidence) -> list[Finding]:
    """Return the evenness of power at each load: shown with the claim, and no part of it."""
    return [_residual_case(evidence, load, "power_cv") for load in LOADS]


def _recent(evidence: Evidence) -> list[Finding]:
    findings = []
    for load in LOADS:
        runs = _module_runs(evidence, load)
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


NX = [1 << k for k in range(4, 17, 2)]
HISTORY_LONG = groups(6000, duration={"uniform": [1000, 10_000]}, arrival={"poisson_load": 0.7})
"""Some 220,000 cycles, more than three times the longest past."""
MIXED = (0.25, 0.5, 0.75)
WAITING = groups(arrival={"poisson_load": 0.9})
OBJECTIVES = ("power_cv", "wait_mean_cycles")
"""What Em. 10 is for, and what a dispatcher is for."""


def _trends(evidence: Evidence) -> Iterator[Finding]:
    runs = evidence.runs("dispatch_nx", experiment(HISTORY_LONG, POWER, choice=calibrated_recent({"vary": NX})))
    points = dict(zip(NX, runs.points, strict=True))
    yield falling(runs, points, "power_cv")
    yield falling(runs, points, "energy_prediction")


def mixture(w: float) -> dict[str, Any]:
    """Mix (1 - w) x what is left + w x little recent energy (E20)."""
    return {"weighted_choice": {"choices": ["most_residual", calibrated_recent()], "weights": [1 - w, w]}}


def _mixture_runs(evidence: Evidence) -> tuple[Results, Iterator[tuple[float, PlannedPoint, float, PlannedPoint]]]:
    """Return the runs, and each mixture with its point and the points of both ends."""
    weights = (0.0, *MIXED, 1.0)
    sweep = experiment(WAITING, POWER, choice={"vary": [mixture(w) for w in weights]})
    runs = evidence.runs("dispatch_mixtures", sweep)
    points = dict(zip(weights, runs.points, strict=True))
    return runs, ((w, points[w], end, points[end]) for w in MIXED for end in (0.0, 1.0))


def _mixtures(evidence: Evidence) -> Iterator[Finding]:
    """Yield the cases of a Pareto statement: neither end is as good as a mixture in both objectives.

    A mixture is on the front with an end where it is better than it in one objective at least; that is what each
    mixture must show against either end.
    """
    runs, pairs = _mixture_runs(evidence)
    for w, here, end, there in pairs:
        yield either_better(runs, there, here, OBJECTIVES, f"w = {w:g} is not dominated by w = {end:g}")


def _both(evidence: Evidence) -> Iterator[Finding]:
    """Yield every mixture against either end in each objective."""
    runs, pairs = _mixture_runs(evidence)
    for w, here, end, there in pairs:
        yield from all_better(runs, there, here, OBJECTIVES, f"w = {w:g} against w = {end:g}")


CLAIMS = [
    Claim(
        "H3.14",
        "most residual with calibrated weights balances modules better than round robin",
        "¶238, ¶246 and ¶258",
        _residual,
        costs=_power,
        design="evenness of utilisation at loads 0.5 and 0.9, throughput where everything is queued",
    ),
    Claim(
        "H3.15",
        "least recent energy gives more even power and heat than most residual and round robin",
        "¶12, ¶261 and ¶283",
        _recent,
    ),
    Claim("H3.16", "a longer past balances more and foretells less", "¶279", _trends),
    Claim(
        "H3.17",
        "mixtures of both are on the Pareto front: neither end is as good in power balance and waiting",
        "¶283",
        _mixtures,
        costs=_both,
        design="w = 0.25, 0.5 and 0.75 against w = 0 and 1, 2 objectives",
    ),
    Claim(
        "H3.18",
        "the emptiest module fragments capacity: best fit refuses large groups less often",
        "objection of spec 3 to ¶246",
        _emptiest,
    ),
]
