"""A study on disk: which study it is, its trials in Optuna's journal format, and the sampler between two batches.

The driver alone writes: a trial becomes one line of the journal when it is told, never before, so a driver that dies
leaves no trial half told or running for ever. `optuna-dashboard study.journal` opens it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StoreError, shown
from workbench.experiments.folder import write_json, write_whole
from workbench.studies.tuning.quiet import quiet
from workbench.studies.tuning.sampler_state import SamplerState, as_bytes, read_state
from workbench.studies.tuning.study import Direction

if TYPE_CHECKING:
    import optuna

JOURNAL, STATE, IDENTITY = "study.journal", "sampler.pickle", "study.json"
KEEP_SECONDS = 1.0
"""Writing the sampler after every trial would take as long as proposing one."""


class Journal:
    """The trials of a study in a folder; without a folder, nothing is kept."""

    def __init__(
        self, folder: Path | None, name: str, directions: list[Direction], identity: Mapping[str, Any]
    ) -> None:
        """Open the study of a folder, or begin one.

        Raises
        ------
        StoreError
            The folder holds another study, or its files are damaged.
        """
        self._folder = folder
        self._state: bytes | None = None
        self._written = 0.0
        self.trials: list[optuna.trial.FrozenTrial] = []
        if folder is None:
            return
        _claim(folder / IDENTITY, identity)
        self._study = _open(folder / JOURNAL, name, directions)
        self.trials = self._study.get_trials(deepcopy=False)

    def state(self) -> SamplerState | None:
        """The sampler as it was after the last whole batch."""
        return None if self._folder is None else read_state(self._folder / STATE)

    def append(self, trial: optuna.trial.FrozenTrial) -> None:
        """Keep a trial that has been told."""
        self.trials.append(trial)
        if self._folder is not None:
            self._study.add_trial(trial)

    def keep(self, state: SamplerState) -> None:
        """Keep the sampler after a whole batch: now and then at once, the last one when the journal is closed.

        After a death the sampler goes on from an earlier batch: it proposes the trials since then again, whose
        outcomes the journal has.
        """
        self._state = as_bytes(state)
        if time.perf_counter() - self._written >= KEEP_SECONDS:
            self.close()

    def close(self) -> None:
        """Write what is not written yet."""
        if self._folder is not None and self._state is not None:
            write_whole(self._folder / STATE, self._state)
            self._state, self._written = None, time.perf_counter()


def _claim(path: Path, identity: Mapping[str, Any]) -> None:
    """Say which study a folder holds, or refuse one that holds another."""
    if not path.exists():
        write_json(path, identity)
        return
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        raise StoreError(f"{path} is damaged, so nobody knows which study the folder holds; choose another.") from None
    differ = [key for key in {**identity, **kept} if kept.get(key) != json.loads(json.dumps(identity)).get(key)]
    if differ:
        words = ", ".join(key.replace("_", " ") for key in differ)
        raise StoreError(f"{path.parent} holds a study of another {words}; choose another folder.")


def _open(path: Path, name: str, directions: list[Direction]) -> optuna.Study:
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    _mend(path)
    try:
        with quiet():
            storage = JournalStorage(JournalFileBackend(str(path)))
            return optuna.create_study(storage=storage, study_name=name, directions=directions, load_if_exists=True)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise StoreError(f"{path} is no journal of a study: {shown(problem)}.") from None


def _mend(path: Path) -> None:
    """Take away what a driver that died may leave: its lock on the journal, and a last line that is not whole.

    Only the holder of the folder comes here, so nobody else is writing.
    """
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with open(path, "r+b") as journal:
                journal.truncate(whole)
