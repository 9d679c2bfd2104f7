"""A study in its results folder: a journal of trials in Optuna's format, which `optuna-dashboard` opens too."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import StoreError, shown
from workbench.experiments.folder import refuse_link, write_json, write_whole
from workbench.studies.tuning.book import Title, refuse_another
from workbench.studies.tuning.quiet import quiet

if TYPE_CHECKING:
    import optuna

    from workbench.studies.tuning.journal_file import JournalFile

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
        self._file, self._study = _open(folder / JOURNAL, title)

    def trials(self) -> list[optuna.trial.FrozenTrial]:
        return list(self._study.get_trials(deepcopy=False))

    def add(self, trial: optuna.trial.FrozenTrial) -> None:
        with self._in_one_sentence():
            self._study.add_trial(trial)

    def sync(self) -> None:
        with self._in_one_sentence():
            self._file.sync()

    def state(self) -> bytes | None:
        try:
            return (self._folder / STATE).read_bytes()
        except FileNotFoundError:
            return None

    def put_state(self, content: bytes) -> None:
        write_whole(self._folder / STATE, content)

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    @property
    def where(self) -> str:
        return str(self._folder / STATE)

    @contextmanager
    def _in_one_sentence(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise StoreError(f"{self._folder / JOURNAL} cannot be written: {problem.strerror}.") from None


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


def _open(path: Path, title: Title) -> tuple[JournalFile, optuna.Study]:
    import optuna

    from workbench.studies.tuning.journal_file import JournalFile

    _mend(path)
    try:
        with quiet():
            file = JournalFile(str(path))
            storage = optuna.storages.JournalStorage(file)
            study = optuna.create_study(
                storage=storage, study_name=title.name, directions=title.directions, load_if_exists=True
            )
            if study.metric_names is None:
                study.set_metric_names(title.measures)
            file.sync()
            return file, study
    except OSError as problem:
        raise StoreError(f"{path} cannot be written: {problem.strerror}.") from None
    except (ValueError, KeyError, TypeError) as problem:
        raise StoreError(f"{path} is no journal of a study: {shown(problem)}.") from None


def journal_storage(path: Path) -> optuna.storages.JournalStorage:
    """Open the journal as Optuna's storage, for those who look at it."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


def _mend(path: Path) -> None:
    """Take away what a driver that died may leave: its lock on the journal, and a last line that is not whole.

    Only the holder of the folder comes here, so nobody else is writing.
    """
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    refuse_link(path)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            with open(path, "r+b") as journal:
                journal.truncate(whole)
