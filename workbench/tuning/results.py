"""The results of a study: its trials, its front, the point to take, the hypervolume and the importances as tables."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import WorkbenchError
from workbench.experiments.results import Results
from workbench.statistics.result_card import Card
from workbench.statistics.result_table import result_table
from workbench.tuning.front import Front, on_front, point_sweep
from workbench.tuning.holdout import different
from workbench.tuning.hypervolume import History, history
from workbench.tuning.importances import lever_shares
from workbench.tuning.objectives import Costs, costs_of
from workbench.tuning.optuna_trials import trial_of
from workbench.tuning.report import recommended_point, report_seeds
from workbench.tuning.space import size
from workbench.tuning.storages import study_with
from workbench.tuning.study import Study, Trial, table_value
from workbench.tuning.trades import trades

if TYPE_CHECKING:
    import optuna
    import pandas as pd


class StudyResults:
    """The outcome of a study."""

    def __init__(self, study: Study, trials: Sequence[optuna.trial.FrozenTrial], folder: Path | None = None) -> None:
        self.study = study
        self._frozen = trials
        self.all_trials: list[Trial] = [trial_of(study, frozen) for frozen in trials]
        """Every trial, in order."""
        self.holdout: Results | None = None
        """The front's and the baseline's runs on fresh seeds, to be summarized, drawn and exported like those of any
        sweep; None when every trial failed or breaks a constraint."""
        self.report: Results | None = None
        """The runs of the point to take, the baseline and the best of each rival on seeds that no choice saw.

        None where there is nothing to compare with, or no such run."""
        self.rivals: dict[str, StudyResults] = {}
        """What tuning each rival with the same trials and seeds came to, by its name."""
        self.held_out: Results | None = None
        """The runs of the best and the baseline on a workload that was held out; None where none was asked for."""
        self.folder = folder
        self.seconds = 0.0
        self.tuner_seconds = 0.0
        """The part of `seconds` that was spent on proposing, telling and keeping trials, not on runs."""

    @functools.cached_property
    def optuna_study(self) -> optuna.Study:
        """Return Optuna's study with every trial, for `optuna.visualization` and `optuna.importance`.

        It is a copy in memory: what is done to it changes no file and no database. A trial has its distributions,
        constraints and user attributes: `point`, `error`, `beaten_by` and the measures that constraints bound.

        >>> from workbench.tuning import tune
        >>> results = tune({
        ...     "engine": "shared_memory", "workload": {"regime": "large_uniform", "count": 40}, "seeds": 2,
        ...     "policy": {"placement": {"tune": ["first_fit", "last_fit"]}}, "baseline": {"placement": "first_fit"},
        ...     "objectives": ["drain_cycles"], "trials": 2, "holdout_seeds": 2, "report_seeds": 2})
        >>> [trial.params["policy.placement"] for trial in results.optuna_study.trials]
        ['first_fit', 'last_fit']
        """
        return study_with(self.study, self._frozen)

    @functools.cached_property
    def best_trials(self) -> list[Trial]:
        """Return the trials of the front, in order: the first of each outcome, on the study's own seeds."""
        done = [(trial, costs) for trial, costs in zip(self.all_trials, self.costs(), strict=True) if costs is not None]
        is_best = on_front(np.array([costs for _, costs in done]))
        return different([trial for (trial, _), best in zip(done, is_best, strict=True) if best])

    def _repr_html_(self) -> str:
        return _card(self).html

    def __repr__(self) -> str:
        """Return the point to take and its table in 80 columns, as `print` shows it."""
        return _card(self).text

    @property
    def found(self) -> list[Trial]:
        """Return `all_trials`, under the name of version 0.5."""
        warnings.warn("StudyResults.found is now called all_trials.", DeprecationWarning, stacklevel=2)
        return self.all_trials

    @property
    def failures(self) -> list[Trial]:
        """Return the trials that failed, each with its reason."""
        return [trial for trial in self.all_trials if trial.status == "failed"]

    @property
    def pruned(self) -> list[Trial]:
        """Return the trials that were given up as hopeless, each with the trial that made it so."""
        return [trial for trial in self.all_trials if trial.status == "pruned"]

    @property
    def different_settings(self) -> int:
        """Return the number of different settings that the trials tried."""
        return len({trial.proposal.setting for trial in self.all_trials})

    @property
    def all_tried(self) -> str:
        """Return the sentence that every setting was tried and the study stopped; empty while some are left."""
        different, trials = self.different_settings, self.study.trials
        if different < size(self.study.space):
            return ""
        sentence = f"{different} different setting{'s' * (different != 1)}, all tried"
        tried = len(self.all_trials)
        return sentence if tried >= trials else f"{sentence}: the study stopped after {tried} of {trials} trials"

    @property
    def any_failed(self) -> bool:
        """Return whether a trial failed, or a run of the front or the baseline on the hold-out seeds."""
        further = [runs for runs in (self.holdout, self.report, self.held_out) if runs is not None]
        rivals = any(one.any_failed for one in self.rivals.values())
        return bool(self.failures) or rivals or any(runs.failures for runs in further)

    @functools.cached_property
    def trials(self) -> pd.DataFrame:
        """Return one row a trial: trial, status (done, failed, pruned), error, point_id, one column a tuned lever, one
        an objective, one a constraint's measure, feasible (keeps every constraint), front."""
        import pandas as pd

        paths = list(dict.fromkeys(path for trial in self.all_trials for path in trial.proposal.chosen))
        best = {trial.point for trial in self.best_trials}
        columns: dict[str, list[Any]] = {
            "trial": [trial.number for trial in self.all_trials],
            "status": [trial.status for trial in self.all_trials],
            "error": [trial.error or _given_up(trial) for trial in self.all_trials],
            "point_id": [trial.point for trial in self.all_trials],
            **{path: [table_value(trial.proposal.chosen.get(path)) for trial in self.all_trials] for path in paths},
        }
        for k, objective in enumerate(self.study.objectives):
            values = [math.nan if trial.values is None else trial.values[k] for trial in self.all_trials]
            columns[objective.measure.name] = values
        for k, constraint in enumerate(self.study.constraints):
            means = [trial.limits[k] if trial.limits else math.nan for trial in self.all_trials]
            columns.setdefault(constraint.measure.name, means)
        columns["feasible"] = [trial.feasible(self.study.constraints) for trial in self.all_trials]
        return pd.DataFrame({**columns, "front": [trial.point in best for trial in self.all_trials]})

    @functools.cached_property
    def front(self) -> Front:
        """Return the trials that no other beats, with their runs on fresh seeds; `front[0]` is a sweep of the first.

        Raises
        ------
        WorkbenchError
            Every trial failed, so there is none.
        """
        if self.holdout is None:
            raise WorkbenchError(_why_none(self.all_trials, self.failures))
        return Front(self.study, self.best_trials, self.holdout)

    @property
    def trades(self) -> list[str]:
        """Return the trades of the front on fresh seeds, in sentences, from the end that is best in the first objective
        to each other end. There are none with one objective, and where there is no front."""
        return [] if self.holdout is None else trades(self.front)

    @property
    def to_take(self) -> list[str]:
        """Return the point to take, and its gains and losses on the report's seeds, in sentences.

        It is the baseline where nothing is shown to be gained there. There is no sentence without a front.
        """
        if self.holdout is None:
            return []
        reason = report_seeds(self.study, self.front, len(self.rivals)).reason
        return recommended_point(self.front, self.report, self.rival_points, reason)

    @property
    def rival_points(self) -> dict[str, str]:
        """Return the id of the best point of each rival that has a front, by what sentences call it."""
        fronts = [rival.front for rival in self.rivals.values() if rival.holdout is not None]
        best = [front.points[front.chosen] for front in fronts]
        return {f"the tuned {front.name(point)}": point.id for front, point in zip(fronts, best, strict=True)}

    @property
    def best(self) -> dict[str, Any]:
        """Return the sweep of the point to take, with the baseline on the report's seeds, which `workbench.run` takes;
        on the hold-out seeds where there is no report.

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

        Columns: trial, policy (what it is), n, and best: it keeps the constraints, and no other point of the front
        beats it there either. Each objective NAME has four: NAME (mean), NAME_low, NAME_high (95 %, Student's t) and
        NAME_tuned (mean on the study's seeds). Measures of constraints have these too, and there is `feasible`.

        Against the baseline there are NAME_size, NAME_size_low, NAME_size_high (a geometric mean of paired ratios,
        above 1 = better, or a mean difference, above 0 = better). NAME_verdict is a word, NAME_p the larger p of both
        tests, corrected over the whole table, NAME_seeds_needed how many seeds tell the least effect. `pairs` and
        `missing` count the seeds that both have, and that one lacks, of the objective that has fewest.
        `beats_baseline` is true of points that are better for sure in every objective. The baseline has the machine
        and the options of the point. Values are over all workloads of the study; `by_workload` has each.
        """
        return self.front.table()

    @property
    def by_workload(self) -> pd.DataFrame:
        """Return one row a point of the front, workload and objective, as it did on the hold-out seeds.

        Columns: trial, workload, objective, n, mean, mean_low, mean_high, and against the baseline size, size_low,
        size_high, verdict, p and seeds_needed as in `pareto`.
        """
        return self.front.by_workload()

    @functools.cached_property
    def history(self) -> History:
        """Return the hypervolume after each trial, on the study's own seeds."""
        return history(self.costs())

    def costs(self) -> list[Costs | None]:
        """Return the objectives of each trial as costs, None of those that failed, were given up or break a
        constraint."""
        counted = [trial.feasible(self.study.constraints) for trial in self.all_trials]
        return [
            costs_of(trial.values or (), self.study.objectives) if counts else None
            for trial, counts in zip(self.all_trials, counted, strict=True)
        ]

    @property
    def hypervolume(self) -> pd.DataFrame:
        """Return one row a trial: trial, hypervolume so far, share of the final one."""
        import pandas as pd

        numbers = [trial.number for trial in self.all_trials]
        return pd.DataFrame({"trial": numbers, "hypervolume": self.history.volumes, "share": self.history.shares})

    @functools.cached_property
    def importances(self) -> pd.DataFrame:
        """Return one row a tuned lever: lever, and its share in what makes trials good, by goal (PED-ANOVA): the front,
        and each objective. The row `(inert lever)` is what a lever that changes nothing reaches; no smaller share means
        anything. Trials that break a constraint are left out. Empty where fewer than 20 trials are done."""
        import pandas as pd

        shares = lever_shares(self.study, self.all_trials)
        levers = list(dict.fromkeys(path for goal in shares.values() for path in goal))
        return pd.DataFrame({"lever": levers, **{g: [s.get(path, 0.0) for path in levers] for g, s in shares.items()}})


def _card(results: StudyResults) -> Card:
    """Return the card of a study: how much was tried, which point to take, and how it does against the baseline."""
    study, failed = results.study, len(results.failures)
    objectives = ", ".join(one.measure.name for one in study.objectives)
    tried = f"{len(results.all_trials)} trials{f', {failed} failed' if failed else ''}; objectives: {objectives}"
    if results.holdout is None:
        return Card(tried, {}, [_why_none(results.all_trials, results.failures)], None)
    runs = results.holdout if results.report is None else results.report
    return Card(tried, {}, [*results.to_take, *results.trades], result_table(runs), "results.pareto")


def _given_up(trial: Trial) -> str:
    return "" if trial.beaten_by is None else f"given up: trial {trial.beaten_by} beats it in every objective."


def _why_none(trials: list[Trial], failures: list[Trial]) -> str:
    if len(failures) == len(trials):
        return f"all {len(trials)} trials failed; the first: {trials[0].error}"
    return f"none of the {len(trials)} trials keeps the constraints, so there is no front."
