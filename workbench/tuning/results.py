"""The results of a study: trials, front, what the front trades in words, importances of levers, parallel axes.

Importances are the share of each lever in how good trials differ from all trials (PED-ANOVA). A lever of a policy
counts only in the trials that chose this policy. What is compared is where the best tenth of the trials lies along a
lever with where all of them lie, so a sampler that hardly left the good region says little: the importances are those
in this study, not in the whole space.

References
----------
Watanabe, Bansal, Hutter, "PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces", IJCAI
2023; as implemented in Optuna, conditional levers included.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from workbench.errors import WorkbenchError
from workbench.experiments.run_set import RunSet
from workbench.statistics import PairedComparison, holm
from workbench.statistics.sentences import amount, listed, number, per_cent, probability
from workbench.statistics.summary import ALPHA, Family
from workbench.streams import Streams
from workbench.tuning.front import Front, point_sweep
from workbench.tuning.hypervolume import History, history
from workbench.tuning.objectives import Costs, Objective, costs_of
from workbench.tuning.space import Dimension, dimensions
from workbench.tuning.study import Study, Trial, shown
from workbench.tuning.trial_store import quiet

if TYPE_CHECKING:
    import optuna
    import pandas as pd


class StudyResults:
    """The outcome of a study."""

    def __init__(
        self, study: Study, trials: list[Trial], best: list[Trial], holdout: RunSet | None, folder: Path | None
    ) -> None:
        self.study = study
        self.found = trials
        """Every trial, in order."""
        self.holdout = holdout
        """The front's and the baseline's runs on fresh seeds, to be summarised, drawn and exported like those of any
        sweep; None when every trial failed or breaks a constraint."""
        self.report: RunSet | None = None
        """The runs of the point to take and the baseline on seeds that neither tuning nor choosing saw; None where
        there is no baseline, or no such run."""
        self.held_out: RunSet | None = None
        """The runs of the best and the baseline on a workload that was held out; None where none was asked for."""
        self.folder = folder
        self.seconds = 0.0
        self.tuner_seconds = 0.0
        """The part of `seconds` that was spent on proposing, telling and keeping trials, not on runs."""
        self.best_trials = best
        """The trials of the front, in order: the first of each outcome, on the study's own seeds."""

    @property
    def failures(self) -> list[Trial]:
        """Return the trials that failed, each with its reason."""
        return [trial for trial in self.found if trial.status == "failed"]

    @property
    def pruned(self) -> list[Trial]:
        """Return the trials that were given up as hopeless, each with the trial that made it so."""
        return [trial for trial in self.found if trial.status == "pruned"]

    @property
    def any_failed(self) -> bool:
        """Return whether a trial failed, or a run of the front or the baseline on the hold-out seeds."""
        further = [runs for runs in (self.holdout, self.report, self.held_out) if runs is not None]
        return bool(self.failures) or any(runs.failures for runs in further)

    @functools.cached_property
    def trials(self) -> pd.DataFrame:
        """Return one row a trial: trial, status (done, failed, pruned), error, point_id, one column a tuned lever, one
        an objective, one a constraint's measure, feasible (keeps every constraint), front."""
        import pandas as pd

        paths = list(dict.fromkeys(path for trial in self.found for path in trial.proposal.chosen))
        best = {trial.point for trial in self.best_trials}
        columns: dict[str, list[Any]] = {
            "trial": [trial.number for trial in self.found],
            "status": [trial.status for trial in self.found],
            "error": [trial.error or _given_up(trial) for trial in self.found],
            "point_id": [trial.point for trial in self.found],
            **{path: [shown(trial.proposal.chosen.get(path)) for trial in self.found] for path in paths},
        }
        for k, objective in enumerate(self.study.objectives):
            values = [math.nan if trial.values is None else trial.values[k] for trial in self.found]
            columns[objective.measure.name] = values
        for k, constraint in enumerate(self.study.constraints):
            means = [trial.limits[k] if trial.limits else math.nan for trial in self.found]
            columns.setdefault(constraint.measure.name, means)
        columns["feasible"] = [trial.feasible(self.study.constraints) for trial in self.found]
        return pd.DataFrame({**columns, "front": [trial.point in best for trial in self.found]})

    @functools.cached_property
    def front(self) -> Front:
        """Return the trials that no other beats, with their runs on fresh seeds; `front[0]` is a sweep of the first.

        Raises
        ------
        WorkbenchError
            Every trial failed, so there is none.
        """
        if self.holdout is None:
            raise WorkbenchError(_why_none(self.found, self.failures))
        return Front(self.study, self.best_trials, self.holdout)

    @property
    def trades(self) -> list[str]:
        """Return what the front trades on fresh seeds, in sentences: from the end that is best in the first objective
        to each other end; none with one objective, and where there is no front."""
        return [] if self.holdout is None else trades(self.front)

    @property
    def to_take(self) -> list[str]:
        """Return which point is the one to take, and what it gains and loses on the report's seeds, in sentences: the
        baseline where it gains nothing there; none without a front."""
        return [] if self.holdout is None else to_take(self.front, self.report)

    @property
    def best(self) -> dict[str, Any]:
        """Return the sweep of the point to take, beside the baseline on the report's seeds, which `workbench.run`
        takes; on the hold-out seeds where there is no report.

        With one objective it is the best point of the front; with several the one that is nearest to the best of each,
        every objective scaled from its best to its worst on the front. `front` has a sweep for each point.

        Raises
        ------
        WorkbenchError
            As `front`.
        """
        seeds = self.study.holdout_seeds if self.report is None else self.report.seeds
        return point_sweep(self.study, self.front.trials[self.front.chosen], seeds)

    @property
    def pareto(self) -> pd.DataFrame:
        """Return one row a point of the front, as it did on the hold-out seeds.

        Columns: trial, policy (what it is), best (it keeps the constraints and no other point of the front beats it
        there either), n, and for each objective NAME: NAME (mean), NAME_low, NAME_high (95 %, Student's t), NAME_tuned
        (mean on the study's seeds), and against the baseline NAME_difference (positive = better), NAME_difference_low,
        NAME_difference_high, NAME_p_holm (corrected over the whole table; NaN and no member where no seed has
        a pair), pairs and missing (seeds that both have, and that one lacks, of the objective that has fewest),
        beats_baseline (better in every objective, each interval clear of zero). With constraints the first four of
        these for their measures too, and feasible. The baseline has the machine and the options of the point.
        """
        return self.front.table()

    @functools.cached_property
    def history(self) -> History:
        """Return the hypervolume after each trial, on the study's own seeds."""
        return history(self.costs())

    def costs(self) -> list[Costs | None]:
        """Return the objectives of each trial as costs, None of those that failed, were given up or break a
        constraint."""
        counted = [trial.feasible(self.study.constraints) for trial in self.found]
        return [
            costs_of(trial.values or (), self.study.objectives) if counts else None
            for trial, counts in zip(self.found, counted, strict=True)
        ]

    @property
    def hypervolume(self) -> pd.DataFrame:
        """Return one row a trial: trial, hypervolume so far, share of the final one."""
        import pandas as pd

        numbers = [trial.number for trial in self.found]
        return pd.DataFrame({"trial": numbers, "hypervolume": self.history.volumes, "share": self.history.shares})

    @functools.cached_property
    def importances(self) -> pd.DataFrame:
        """Return one row a tuned lever: lever, and its share in what makes trials good, by goal (PED-ANOVA): the front,
        and each objective. The row `(inert lever)` is what a lever that changes nothing reaches; no smaller share means
        anything. Trials that break a constraint are left out. Empty where fewer than 20 trials are done."""
        import pandas as pd

        shares = lever_shares(self.study, self.found)
        levers = list(dict.fromkeys(path for goal in shares.values() for path in goal))
        return pd.DataFrame({"lever": levers, **{g: [s.get(path, 0.0) for path in levers] for g, s in shares.items()}})


def _given_up(trial: Trial) -> str:
    return "" if trial.beaten_by is None else f"given up: trial {trial.beaten_by} beats it in every objective."


def _why_none(trials: list[Trial], failures: list[Trial]) -> str:
    if len(failures) == len(trials):
        return f"all {len(trials)} trials failed; the first: {trials[0].error}"
    return f"none of the {len(trials)} trials keeps the constraints, so there is no front."


FEWEST_PAIRS = 6
"""Pairs below which no difference is clear: of five that all have one sign the two-sided p is 2 / 2^5, above 0.05."""


def trades(front: Front) -> list[str]:
    """Return what it costs to go from the first objective's end of a front to each other end, one sentence an end.

    Ends are those of the points that are still best on fresh seeds. Of points that are equal in an end's objective the
    one that is best in the other end's is the end, then the first. A change is the median paired difference between the
    two points, over the seeds on which both have a value; where its interval holds zero no figure is given.

    Returns
    -------
    list of str
        None with one objective. One that says so where nothing is traded: there is one such point, or fewer than two
        objectives differ over them. Objectives that are the same at all of them are named last.
    """
    objectives, places = front.objectives, [k for k, is_best in enumerate(front.best) if is_best]
    if len(objectives) < 2:
        return []
    if not places:
        return ["No point of the front keeps its place on fresh seeds, so what it trades is unknown."]
    if len(places) == 1:
        left = "The front is one point" if len(front) == 1 else "On fresh seeds one point is left of the front"
        return [f"{left} (trial {front.trials[places[0]].number}), so nothing is traded."]
    differs = [len({front.means[k][j] for k in places}) > 1 for j in range(len(objectives))]
    moving = [j for j, does in enumerate(differs) if does]
    fixed = [(objectives[j].measure.name, front.means[places[0]][j]) for j, does in enumerate(differs) if not does]
    same = [f"{name} is the same at all {len(places)} points ({number(mean, None)})" for name, mean in fixed]
    if len(moving) < 2:
        return [f"Nothing is traded: {'; '.join(same)}."]
    sentences = [_between(front, places, moving, j) for j in moving[1:]]
    return [*sentences, *([f"{'; '.join(same)}, so it is not traded."] if same else [])]


def _between(front: Front, places: Sequence[int], moving: Sequence[int], towards: int) -> str:
    """Return what the way from the end of the first moving objective to that of another costs and brings."""
    one, other = front.objectives[moving[0]], front.objectives[towards]
    start, end = _end_of_front(front, places, moving[0], towards), _end_of_front(front, places, towards, moving[0])
    names = [f"trial {front.trials[k].number}" for k in (start, end)]
    if start == end:
        return f"{names[0].capitalize()} has both {_extreme(one)} and {_extreme(other)}: neither costs the other."
    pairs = [(front.objectives[j], front.between(start, end, front.objectives[j])) for j in moving]
    seeds = min(paired.n for _, paired in pairs)
    few = f" (it takes {FEWEST_PAIRS})" if seeds < FEWEST_PAIRS else ""
    fresh = f"at {seeds} fresh seed{'s' if seeds != 1 else ''}{few}"
    way = f"From the end with {_extreme(one)} ({names[0]}) to that with {_extreme(other)} ({names[1]})"
    return f"{way}: {gains_and_losses(pairs)}, {fresh}."


def to_take(front: Front, report: RunSet | None) -> list[str]:
    """Return which point of a front is the one to take, and what it gains and loses on seeds that it was not chosen on.

    It is the baseline where no objective is clearly better than its, after Holm's correction over the objectives, or
    where a constraint is broken there; where some are better and some worse, that is said and the reader chooses.

    Parameters
    ----------
    report : RunSet, optional
        The chosen point beside its baseline on further seeds; None where there is no such comparison.
    """
    point, trial = front.points[front.chosen], front.trials[front.chosen].number
    named, baseline = f"trial {trial}, {front.name(point)}", front.baseline_of(point)
    if baseline is None:
        return [f"the one to take: {named}; the study names no baseline to compare it with"]
    other = f"the baseline, {front.name(baseline)}"
    if baseline.id == point.id:
        return [f"the one to take: {other}, which is trial {trial} of the front"]
    if report is None:
        return [f"the one to take: {named}; nothing says how it does on runs that it was not chosen on"]
    compared = [
        (one, paired) for one in front.objectives if (paired := front.comparison(point, one, report)) and paired.n
    ]
    if not compared:
        return [f"the one to take: {other}; the runs of {named} failed on the seeds of the report"]
    p_values = holm({one.measure.name: paired.p_value for one, paired in compared})
    gains = [paired.interval.mean > 0 for one, paired in compared if p_values[one.measure.name] < ALPHA]
    broken = front.broken(point, report)
    if broken or not any(gains):
        first = f"{other}: {named} is the best of the front and does not beat it"
    else:
        first = named if all(gains) else f"{named}, if its gains are worth its losses; else {other}"
    seeds = min(paired.n for _, paired in compared)
    where = f"at {seeds} seed{'s' * (seeds != 1)} that neither tuning nor choosing saw"
    words = f"trial {trial} against the baseline {where}: {gains_and_losses(compared, p_values)}"
    few = Family(len(compared), seeds).note if seeds > 1 else ""
    return list(
        filter(None, [f"the one to take: {first}", "; breaks ".join(filter(None, [words, listed(broken)])), few])
    )


def gains_and_losses(
    pairs: Sequence[tuple[Objective, PairedComparison]], p_values: Mapping[str, float] | None = None
) -> str:
    """Return what is better of several objectives, what is worse, and what is not clear: medians with 95 % intervals.

    Clear is what has an interval without 0, or where corrected p-values are given by objective, one below 5 %.

    >>> from workbench.metrics.measure import Measure
    >>> from workbench.statistics import compare
    >>> wait = Objective(Measure("wait_cycles", "cycles", "lower", ""), "minimize")
    >>> gains_and_losses([(wait, compare([20, 21, 22, 23, 24, 25], [30, 31, 32, 33, 34, 35]))])
    'loses wait_cycles 10 [10, 10] cycles more (44 %)'
    """
    alone = {one.measure.name: paired.p_value for one, paired in pairs}
    clear = {name for name, p in (p_values or alone).items() if p < ALPHA}
    changes: dict[bool, list[str]] = {True: [], False: []}
    for one, paired in pairs:
        if one.measure.name in clear:
            p = "" if p_values is None else f", p {probability(p_values[one.measure.name])}"
            changes[paired.interval.mean > 0].append(f"{_change(one, paired)}{p}")
    unclear = [one.measure.name for one, _ in pairs if one.measure.name not in clear]
    parts = [
        f"{word} {', '.join(changes[side])}" for side, word in ((True, "gains"), (False, "loses")) if changes[side]
    ]
    return "; ".join([*parts, *([f"no clear change of {listed(unclear)}"] if unclear else [])])


def _change(objective: Objective, paired: PairedComparison) -> str:
    """Return the median difference of an objective with its interval, and as a share where there is one."""
    measure = objective.measure._replace(better=objective.better)
    share = f" ({per_cent(paired.saving.mean)})" if math.isfinite(paired.saving.mean) else ""
    return f"{measure.name} {amount(*paired.interval[:3], measure)}{share}"


def _end_of_front(front: Front, places: Sequence[int], objective: int, then: int) -> int:
    """Return the point that is best in one objective; of equal ones that which is best in another, then in all."""

    def order(k: int) -> tuple[float, ...]:
        costs = costs_of(front.means[k], front.objectives)
        return costs[objective], costs[then], *costs

    return min(places, key=order)


def _extreme(objective: Objective) -> str:
    return f"the {'least' if objective.direction == 'minimize' else 'most'} {objective.measure.name}"


FEWEST_TRIALS = 20
"""Trials; the best tenth of fewer is a single one."""
FRONT = "front"
INERT, SHUFFLES = "(inert lever)", 99
"""The row of what levers reach that change nothing: how often outcomes are dealt to other trials to know it."""
FLOOR = 95
"""Of so many shuffles, in order, the one whose largest share is the floor: where no lever matters, none is above it in
95 of 100 studies (with 99 shuffles that is exact, for then the trials as they are are one of 100 alike)."""


def lever_shares(study: Study, trials: Sequence[Trial]) -> dict[str, dict[str, float]]:
    """Compute, by goal, the share of each lever, the largest first, and of `INERT` the share that noise alone reaches.

    The shares of the levers of a goal add up to 1. A lever's share before it is divided by all of them does not depend
    on the others, so one that matters does not lift or lower the floor for the rest. The goals are the objectives by
    name, and with several of them `front`: coming near the front at all. Trials that break a constraint are left out.
    Empty where fewer than `FEWEST` trials are done.
    """
    done = [trial for trial in trials if trial.values is not None and trial.feasible(study.constraints)]
    if len(done) < FEWEST_TRIALS:
        return {}
    with quiet(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that low values are explained: they are costs
        goals: dict[str, Any] = {FRONT: None} if len(study.objectives) > 1 else {}
        goals |= {objective.measure.name: _value(k) for k, objective in enumerate(study.objectives)}
        asker, shuffled = _study_of(study, done), [_study_of(study, done, draw) for draw in range(SHUFFLES)]
        return {name: _with_floor(asker, shuffled, target) for name, target in goals.items()}


def _with_floor(asker: optuna.Study, shuffled: Sequence[optuna.Study], target: Any) -> dict[str, float]:
    parts = _parts(asker, target)
    total = sum(parts.values())
    by_chance = sorted(max(_parts(one, target).values(), default=0.0) for one in shuffled)
    floor = by_chance[min(FLOOR * (len(by_chance) + 1) // 100, len(by_chance)) - 1]
    if total == 0:
        return {**dict.fromkeys(parts, 1 / max(len(parts), 1)), INERT: 1.0}
    return {**{path: part / total for path, part in parts.items()}, INERT: min(1.0, floor / total)}


def _value(place: int) -> Callable[[optuna.trial.FrozenTrial], float]:
    return lambda trial: float(trial.values[place])


def _parts(asker: optuna.Study, target: Callable[[optuna.trial.FrozenTrial], float] | None) -> dict[str, float]:
    """Return how far along each lever the best trials differ from all trials, the farthest first."""
    from optuna.importance import PedAnovaImportanceEvaluator, get_param_importances

    evaluator = PedAnovaImportanceEvaluator()
    parts = get_param_importances(asker, evaluator=evaluator, target=target, normalize=False)
    return dict(sorted(parts.items(), key=lambda item: (-item[1], item[0])))


def _study_of(study: Study, trials: Sequence[Trial], shuffle: int | None = None) -> optuna.Study:
    """Return the trials with the levers that mattered to each, and costs for values; perhaps those of other trials."""
    import optuna

    outcomes = np.arange(len(trials)) if shuffle is None else Streams(shuffle)["outcomes"].permutation(len(trials))
    axes = {dimension.path: dimension for dimension in dimensions(study.space)}
    asker = optuna.create_study(directions=["minimize"] * len(study.objectives))
    for trial, of in zip(trials, outcomes.tolist(), strict=True):
        chosen = trial.proposal.chosen
        asker.add_trial(
            optuna.trial.create_trial(
                params={path: axes[path].parameter(value) for path, value in chosen.items()},
                distributions={path: axes[path].distribution() for path in chosen},
                values=list(costs_of(trials[of].values or (), study.objectives)),
            )
        )
    return asker


MOST_AXES = 8
"""Of levers that are shown."""


class ParallelAxis(NamedTuple):
    """One axis: a lever or an objective."""

    name: str
    ends: tuple[str, str]
    """What stands at 0 and at 1."""
    words: tuple[str, ...]
    """What each line has there; empty where the lever did not matter to it."""
    at: tuple[float, ...]
    """Where each line crosses it, from 0 to 1; NaN where the lever did not matter to it."""


def parallel_axes(results: StudyResults, levers: Sequence[str] = ()) -> list[ParallelAxis]:
    """Return the axes over which the front of a study is drawn: levers, then objectives, on the hold-out seeds where it
    was run there, else on the study's own.

    Parameters
    ----------
    levers : sequence of str
        The levers in the order of their importance, the first of which are shown; in the order of the study where it is
        empty. A lever that has one value on the whole front is left out.
    """
    front = results.best_trials
    known = {dimension.path: dimension for dimension in dimensions(results.study.space)}
    wanted = [path for path in levers if path in known] or list(known)
    axes = [_of_lever(known[path], front) for path in wanted]
    moving = [axis for axis in axes if len(set(axis.words)) > 1][:MOST_AXES]
    means = [list(trial.values or ()) for trial in front] if results.holdout is None else results.front.means
    names = [one.measure.name for one in results.study.objectives]
    return [*moving, *(_of_numbers(name, [row[k] for row in means]) for k, name in enumerate(names))]


def _of_lever(dimension: Dimension, front: Sequence[Trial]) -> ParallelAxis:
    chosen = [trial.proposal.chosen.get(dimension.path) for trial in front]
    words = tuple("" if value is None else str(shown(value)) for value in chosen)
    at = tuple(math.nan if value is None else _place(dimension, value) for value in chosen)
    low, high = (dimension.value(_end_of_axis(dimension, k)) for k in (0, 1))
    return ParallelAxis(dimension.path, (str(shown(low)), str(shown(high))), words, at)


def _end_of_axis(dimension: Dimension, which: int) -> Any:
    if dimension.kind == "category":
        return dimension.labels[-which]
    end = (dimension.least, dimension.most)[which]
    return end if dimension.kind == "number" else int(end)


def _place(dimension: Dimension, value: Any) -> float:
    """Return where a value lies between the ends of its axis."""
    if dimension.kind == "category":
        return dimension.values.index(value) / max(len(dimension.values) - 1, 1)
    low, high, at = dimension.least, dimension.most, float(dimension.parameter(value))
    if dimension.log:
        low, high, at = math.log(low), math.log(high), math.log(at)
    return (at - low) / (high - low) if high > low else 0.5


def _of_numbers(name: str, values: Sequence[float]) -> ParallelAxis:
    known = [value for value in values if math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    at = tuple(_share(value, low, high) for value in values)
    return ParallelAxis(name, (f"{low:.4g}", f"{high:.4g}"), tuple(f"{value:.4g}" for value in values), at)


def _share(value: float, low: float, high: float) -> float:
    """Return where a value lies between two ends; NaN of one that is not finite."""
    if not math.isfinite(value):
        return math.nan
    return (value - low) / (high - low) if high > low else 0.5
