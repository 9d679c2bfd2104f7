"""A study in its results folder: a journal of trials in Optuna's format, which `optuna-dashboard` opens too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StoreError, shown
from workbench.experiments.folder import write_json, write_whole
from workbench.studies.tuning.book import Title, refuse_another
from workbench.studies.tuning.quiet import quiet

if TYPE_CHECKING:
    import optuna

JOURNAL, STATE, IDENTITY = "study.journal", "sampler.pickle", "study.json"


class Journal:
    """The trials of a study in a folder."""

    def __init__(self, folder: Path, title: Title) -> None:
        """Open the study of a folder, or begin one.

        Raises
        ------
        StoreError
            The folder holds another study, or its files are damaged.
        """
        self._folder = folder
        _claim(folder / IDENTITY, title.identity)
        self._study = _open(folder / JOURNAL, title)

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        return list(self._study.get_trials(deepcopy=False))

    def add(self, trial: optuna.trial.FrozenTrial) -> None:
        self._study.add_trial(trial)

    def state(self) -> bytes | None:
        try:
            return (self._folder / STATE).read_bytes()
        except FileNotFoundError:
            return None

    def put_state(self, content: bytes) -> None:
        write_whole(self._folder / STATE, content)

    def close(self) -> None: ...

    @property
    def where(self) -> str:
        return str(self._folder / STATE)


def _claim(path: Path, identity: Mapping[str, Any]) -> None:
    """Say which study a folder holds, or refuse one that holds another."""
    if not path.exists():
        write_json(path, identity)
        return
    try:
        kept = json.loads(path.read_text())
    except (OSError, ValueError):
        raise StoreError(f"{path} is damaged, so nobody knows which study the folder holds; choose another.") from None
    refuse_another(kept, identity, str(path.parent), "choose another folder")


def _open(path: Path, title: Title) -> optuna.Study:
    import optuna

    _mend(path)
    try:
        with quiet():
            storage = journal_storage(path)
            study = optuna.create_study(
                storage=storage, study_name=title.name, directions=title.directions, load_if_exists=True
            )
            if study.metric_names is None:
                study.set_metric_names(title.measures)
            return study
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise StoreError(f"{path} is no journal of a study: {shown(problem)}.") from None


def journal_storage(path: Path) -> optuna.storages.JournalStorage:
    """The journal as Optuna's storage."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


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
