"""The subclasses of Optuna's classes: TPE by policy, and the file of a journal.

They stand apart because Optuna is imported with them, and only when a study runs.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import TPESampler
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from optuna.study import Study
from optuna.trial import FrozenTrial


class TpeByPolicy(TPESampler):
    """Optuna's TPE, but the levers of the policy that was chosen are proposed together, from one model.

    Optuna's own `group` models the levers of every policy before it knows which are chosen. Without it each lever is
    modeled alone. Either way a trial costs a model for each. A model is most of what a proposal costs.
    """

    def __init__(self, groups: Iterable[Mapping[str, BaseDistribution]], **settings: Any) -> None:
        """Take as `groups` the parameters of each choice, those that matter whenever it is chosen."""
        super().__init__(multivariate=True, **settings)
        self._groups = {name: dict(group) for group in groups for name in group}
        self._number, self._drawn = -1, dict[str, Any]()

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """Return the parameter as it was drawn with the others of its group; alone while there is no model yet."""
        if trial.number != self._number:
            self._number, self._drawn = trial.number, {}
        if param_name not in self._drawn and param_name in self._groups:
            self._drawn |= self.sample_relative(study, trial, self._groups[param_name])
        if param_name in self._drawn:
            return self._drawn[param_name]
        return super().sample_independent(study, trial, param_name, param_distribution)


class JournalFile(JournalFileBackend):
    """Optuna's file of a journal, without a wait for the disk at every entry: a batch of trials waits once.

    An entry outlives the process as soon as it is written; it outlives the machine after `sync`. With a wait at every
    entry, proposing and keeping 80 trials of NSGA-II took 1.3 to 1.7 s instead of 0.4 to 0.6 s.
    """

    def __init__(self, path: str) -> None:
        self._path, self._turn = path, JournalFileSymlinkLock(path)
        super().__init__(path, self._turn)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Write entries behind the last one; a dashboard may write its notes there too."""
        text = "".join(f"{json.dumps(log, separators=(',', ':'))}\n" for log in logs)
        self._turn.acquire()
        try:
            with open(self._path, "ab") as file:
                file.write(text.encode())
        finally:
            self._turn.release()

    def sync(self) -> None:
        """Bring to the disk what was written."""
        with open(self._path, "ab") as file:
            os.fsync(file.fileno())
