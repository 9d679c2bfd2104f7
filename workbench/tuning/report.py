"""The report of a study: the setting to take against its baseline and the tuned rivals, at seeds that no choice saw.

All of its comparisons are corrected together. Its seeds may follow from the spread on the hold-out seeds: as many as
tell the least effect, and no more than a stated number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbench.experiments.fronts import PARTS, STEPPED
from workbench.experiments.plan import Plan
from workbench.experiments.results import Results
from workbench.number_text import number
from workbench.runs.run import PlannedPoint
from workbench.statistics.comparisons import Family
from workbench.statistics.quantities import listed
from workbench.statistics.verdict import seeds_that_tell
from workbench.tuning.contrasts import Decided, decide
from workbench.tuning.front import Front, point_sweep
from workbench.tuning.holdout import fresh_plan
from workbench.tuning.study import Proposal, Study, Trial

REPORT = "report"
"""The folder of the report in that of its study."""
BASELINE = "the baseline"


class ReportSeeds(NamedTuple):
    """At which seeds the report is run, and why at so many."""

    seeds: list[int]
    reason: str


def report_seeds(study: Study, front: Front, rivals: int = 0) -> ReportSeeds:
    """Return the seeds of the report: those of the study file, or as many as tell the least effect.

    The spread is that of the pairs on the hold-out seeds. It takes no part in the choice of a side, so that the error
    rate of the report is as stated.

    Parameters
    ----------
    rivals : int
        How many rivals are compared too.
    """
    if not study.report_by_spread:
        return ReportSeeds(study.report_seeds, "")
    family = len(front.objectives) * (1 + rivals) * (len(study.workloads) + (len(study.workloads) > 1))
    fewest, most = Family(family, 0).seeds_needed, len(study.report_seeds)
    least = min(max(len(study.holdout_seeds), fewest), most)
    why = "as many as hold-out seeds" if len(study.holdout_seeds) >= fewest else "the fewest that can decide anything"
    decided = [front.decided.get((front.chosen, one.measure.name)) for one in front.objectives]
    known = [one for one in decided if one is not None and one.verdict.of.least is not None and one.verdict.of.n > 1]
    needed = {one.measure.name: _needed(one, family) for one in known}
    if not needed:
        return ReportSeeds(study.report_seeds[:least], f"{why}: no objective declares a least effect")
    name, count = max(needed.items(), key=lambda item: item[1])
    if count > most:
        much = f"{number(count)} would" if math.isfinite(count) else "no number would"
        reason = f"the most that report_seeds allows; {much} tell the least effect in {name}"
        return ReportSeeds(study.report_seeds, reason)
    if count <= least:
        return ReportSeeds(study.report_seeds[:least], f"{why}; {number(count)} tell the least effect")
    return ReportSeeds(study.report_seeds[: int(count)], f"as many as tell the least effect in {name}")


def _needed(one: Decided, family: int) -> float:
    assert one.verdict.of.least is not None
    count = seeds_that_tell(one.verdict.of.spread, one.verdict.of.least, family)
    return math.inf if count is None else count


def report_plan(
    study: Study, proposals: Sequence[Proposal], tuned: Sequence[PlannedPoint], seeds: list[int]
) -> Plan | None:
    """Return the plan of some settings and their baseline at seeds that neither tuning nor choosing saw.

    None where there is nothing to compare with, and where the workload has no run that they did not see.

    Parameters
    ----------
    proposals : sequence of Proposal
        The setting to take first, then the best of each rival.
    tuned : sequence of PlannedPoint
        The points of the first on the study's workloads.
    """
    if not study.config.get("baseline") and len(proposals) == 1:
        return None
    sweeps = [point_sweep(study, Trial(0, one, "", None, ""), seeds) for one in proposals]
    config = sweeps[0] | {key: _stepped([one[key] for one in sweeps]) for key in PARTS if key in sweeps[0]}
    config["question"] = f"Does what the study {study.name} tuned hold at seeds that it was not chosen on?"
    return fresh_plan(study, config, tuned, [*study.sweep.seeds, *study.holdout_seeds], study.sweep.where)


def _stepped(values: Sequence[Any]) -> Any:
    """Return one key of a sweep over some settings: what differs steps together, the rest is the same for all."""
    first = values[0]
    if all(value == first for value in values):
        return first
    return {name: _choice([value[name] for value in values]) for name in first}


def _choice(values: Sequence[Any]) -> Any:
    return values[0] if all(one == values[0] for one in values) else {"vary": list(values), "zip": STEPPED}


class Reported(NamedTuple):
    """What the report shows of the setting to take."""

    opponents: dict[str, PlannedPoint]
    """The baseline and the best of each rival that have runs, by what sentences call them."""
    decided: dict[tuple[str, str], Decided]
    """By opponent and objective; those that have no pair are left out."""

    def against(self, opponent: str) -> list[Decided]:
        """Return its result against one opponent, objective by objective."""
        return [one for (name, _), one in self.decided.items() if name == opponent]


def reported(front: Front, report: Results, rivals: Mapping[str, str]) -> Reported:
    """Return the results of the report, all comparisons corrected together.

    Parameters
    ----------
    rivals : mapping
        The id of the best point of each rival, by what sentences call it.
    """
    point, by_id = front.points[front.chosen], {one.id: one for one in report.points}
    baseline = report.baseline_of(point)
    opponents = {} if baseline is None else {BASELINE: baseline}
    opponents |= {name: by_id[id] for name, id in rivals.items() if id in by_id and id != point.id}
    contrasts = {
        (name, objective.measure.name): front.against(other, point, objective, report)
        for name, other in opponents.items()
        for objective in front.objectives
    }
    return Reported(opponents, decide({key: one for key, one in contrasts.items() if one.whole.n}))


def recommended_point(front: Front, report: Results | None, rivals: Mapping[str, str], reason: str = "") -> list[str]:
    """Return the point of a front to take, and its gains and losses on seeds that it was not chosen on.

    It is the baseline where the point is not shown to beat it in any objective, or where a constraint is broken there.
    Where some objectives are better and some worse, the reader chooses.

    Parameters
    ----------
    report : Results, optional
        The chosen point, its baseline and the rivals on further seeds; None where there is no such comparison.
    rivals : mapping
        As of `reported`.
    reason : str
        Why the report has so many seeds.
    """
    point, trial = front.points[front.chosen], front.trials[front.chosen].name
    named = f"{trial}, {front.name(point)}"
    baseline = front.baseline_of(point)
    if baseline is not None and baseline.id == point.id:
        return [f"the one to take: {BASELINE}, {front.name(baseline)}, which is {trial} of the front"]
    if report is None:
        missing = "the study names no baseline to compare it with"
        unseen = "nothing says how it does on runs that it was not chosen on"
        return [f"the one to take: {named}; {missing if baseline is None else unseen}"]
    outcome, broken = reported(front, report, rivals), front.broken(point, report)
    first = named if baseline is None else _first(named, f"{BASELINE}, {front.name(baseline)}", outcome, broken, trial)
    if not outcome.decided:
        return [f"the one to take: {first}"]
    seeds = len(report.seeds)
    where = f"compared at {seeds} seed{'s' * (seeds != 1)} that neither tuning nor choosing saw"
    lines = [line for name in outcome.opponents for line in _lines(trial, name, outcome.against(name), front.workloads)]
    note = Family(next(iter(outcome.decided.values())).verdict.comparisons, seeds).note if seeds > 1 else ""
    breaks = f"{trial} breaks {listed(broken)}" if broken else ""
    counted = f"{where}, {reason}" if reason else where
    return list(filter(None, [f"the one to take: {first}", counted, *lines, breaks, note]))


def _first(named: str, baseline: str, outcome: Reported, broken: Sequence[str], trial: str) -> str:
    """Return the one to take, of a point and its baseline."""
    against = outcome.against(BASELINE)
    if not against:
        return f"{baseline}; the runs of {named} failed on the seeds of the report"
    if broken or not any(one.is_gain for one in against):
        beaten = relation(against) if not broken else "breaks a constraint"
        return f"{baseline}: {named} is the best of the front and {beaten}"
    if any(one.is_loss or one.loses_somewhere for one in against):
        return f"{named}, if its gains are worth its losses; else {baseline}"
    return named


def _lines(trial: str, opponent: str, against: Sequence[Decided], workloads: Sequence[str]) -> list[str]:
    """Return the report against one opponent: a sentence, then a line an objective and workload."""
    lines = [f"{trial} {relation(against, opponent)}"]
    for one in against:
        lines.append(f"    {one.measure.name} {one.line}")
        lines += [f"        on {line}" for line in one.lines_by_workload(workloads)]
    return lines


def relation(against: Sequence[Decided], opponent: str = "it") -> str:
    """Return the verdict on a setting against another one, in all objectives together."""
    gains, losses = any(one.is_gain for one in against), any(one.is_loss for one in against)
    if gains and losses:
        return f"gains and loses against {opponent}"
    if losses:
        return f"loses to {opponent}"
    if against and all(one.verdict.word in ("equal", "same") for one in against):
        return f"is as good as equal to {opponent}"
    if not gains:
        return "; ".join(filter(None, [f"is not shown to beat {opponent}", _telling(against)]))
    sure = all(one.verdict.is_sure for one in against)
    but = ", and is worse on a workload" if any(one.loses_somewhere for one in against) else ""
    return f"beats {opponent}{' for sure' if sure else ', not for sure in every objective'}{but}"


def _telling(against: Sequence[Decided]) -> str:
    """Return the number of seeds that would tell the least effect in the objective that needs most of them."""
    unclear = [one for one in against if one.telling and one.verdict.word not in ("same", "equal")]
    return max(unclear, key=lambda one: one.verdict.seeds_needed or math.inf).telling if unclear else ""
