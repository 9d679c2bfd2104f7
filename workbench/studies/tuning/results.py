"""What a study found: every trial, and the front once more on fresh seeds beside the baseline."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.experiments.run_set import RunSet
from workbench.studies.tuning.front import Front
from workbench.studies.tuning.study import Study
from workbench.studies.tuning.trial import Trial, shown

if TYPE_CHECKING:
    import pandas as pd


class StudyResults:
    """The outcome of a study."""

    def __init__(
        self, study: Study, found: list[Trial], best: list[Trial], holdout: RunSet | None, folder: Path | None
    ) -> None:
        self.study = study
        self.found = found
        """Every trial, in order."""
        self.holdout = holdout
        """The front's and the baseline's runs on fresh seeds, to be summarised, drawn and exported like those of any
        sweep; None when every trial failed."""
        self.folder = folder
        self.seconds = 0.0
        self.tuner_seconds = 0.0
        """The part of `seconds` that was spent on proposing, telling and keeping trials, not on runs."""
        self._best = best

    @property
    def failures(self) -> list[Trial]:
        """The trials that failed, each with its reason."""
        return [trial for trial in self.found if trial.values is None]

    @property
    def any_failed(self) -> bool:
        """Whether a trial failed, or a run of the front or the baseline on the hold-out seeds."""
        return bool(self.failures) or (self.holdout is not None and bool(self.holdout.failures))

    @functools.cached_property
    def trials(self) -> pd.DataFrame:
        """One row a trial: trial, status, error, point_id, one column a tuned lever, one an objective, front."""
        import pandas as pd

        paths = list(dict.fromkeys(path for trial in self.found for path in trial.proposal.chosen))
        best = {trial.point for trial in self._best}
        columns: dict[str, list[Any]] = {
            "trial": [trial.number for trial in self.found],
            "status": ["failed" if trial.values is None else "done" for trial in self.found],
            "error": [trial.error for trial in self.found],
            "point_id": [trial.point for trial in self.found],
            **{path: [shown(trial.proposal.chosen.get(path)) for trial in self.found] for path in paths},
        }
        for k, objective in enumerate(self.study.objectives):
            values = [math.nan if trial.values is None else trial.values[k] for trial in self.found]
            columns[objective.measure.name] = values
        return pd.DataFrame({**columns, "front": [trial.point in best for trial in self.found]})

    @functools.cached_property
    def front(self) -> Front:
        """The trials that no other beats, with their runs on fresh seeds.

        Raises
        ------
        WorkbenchError
            Every trial failed, so there is none.
        """
        if self.holdout is None:
            raise WorkbenchError(f"all {len(self.found)} trials failed; the first: {self.found[0].error}")
        return Front(self.study, self._best, self.holdout)

    @property
    def pareto(self) -> pd.DataFrame:
        """One row a point of the front, as it did on the hold-out seeds.

        Columns: trial, policy (what it is), best (no other point of the front beats it there either), n, and for each
        objective NAME: NAME (mean), NAME_low, NAME_high (95 %, Student's t), NAME_tuned (mean on the study's seeds),
        and against the baseline NAME_difference (positive = better), NAME_difference_low, NAME_difference_high,
        NAME_p_holm (Wilcoxon, corrected over the whole table).
        """
        return self.front.table()
