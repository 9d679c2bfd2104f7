"""The places of a study's trials: a journal in its results folder, or a database that many machines reach.

The journal is in Optuna's format, which `optuna-dashboard` opens too. A database is for clusters: any machine that
reaches it can look at the study, or go on with it. One driver at a time owns the study, and it alone proposes; runs may
be done anywhere. In PostgreSQL the owner holds a lock of its session, which goes with its connection however that ends;
next to an SQLite file it holds a file lock.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from workbench.errors import StoreError, WorkbenchError, missing_extra, shown
from workbench.experiments.results_folder import refuse_link, write_json
from workbench.tuning.samplers import quiet
from workbench.tuning.study import StorageAddress, Study, hidden

if TYPE_CHECKING:
    import optuna
    from optuna.storages import RDBStorage

    from workbench.tuning.optuna_extensions import JournalFile


JOURNAL, IDENTITY_FILE = "study.journal", "study.json"
_CLOUD = ":optimizer:"
"""In the names of the attributes in which Optuna's CMA-ES keeps its normal distribution, pickled, in pieces."""


class TrialStore:
    """The trials of a study that have an outcome, in Optuna's format; here they end with the process.

    A trial is kept when it has an outcome, never before: a driver that dies leaves no trial unfinished or running.
    """

    where = ""
    """The name of the place of the trials in refusals."""

    def __init__(self) -> None:
        self.trials: list[optuna.trial.FrozenTrial] = []

    def add(self, trials: Sequence[optuna.trial.FrozenTrial]) -> None:
        """Keep more trials, without the pickle that Optuna's CMA-ES notes in them; they are on the disk afterwards.

        Raises
        ------
        StoreError
            The place does not take it.
        """
        for trial in trials:
            trial.system_attrs = {key: one for key, one in trial.system_attrs.items() if _CLOUD not in key}
            self._write(trial)
            self.trials.append(trial)
        if trials:
            self._sync()

    def _write(self, trial: optuna.trial.FrozenTrial) -> None:
        """Write one trial more, which outlives this process from now on."""

    def _sync(self) -> None:
        """Bring to the disk what was written."""

    def close(self) -> None:
        """Let the place go; what was kept stays."""


class Journal(TrialStore):
    """The trials of a study in a folder."""

    def __init__(self, folder: Path, study: Study, identity: Mapping[str, Any]) -> None:
        """Open the study of a folder, or begin one, with what makes it the same study, in plain types.

        Raises
        ------
        StoreError
            The folder holds another study, or its files are damaged.
        """
        self.where = str(folder / JOURNAL)
        _claim(folder / IDENTITY_FILE, identity)
        self._file, self._study = _open_journal(folder / JOURNAL, study)
        self.trials = list(self._study.get_trials(deepcopy=False))

    def _write(self, trial: optuna.trial.FrozenTrial) -> None:
        with _written(self.where):
            self._study.add_trial(trial)

    def _sync(self) -> None:
        with _written(self.where):
            self._file.sync()


@contextmanager
def _written(where: object) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise StoreError(f"{where} cannot be written: {problem.strerror}.") from None


def _claim(path: Path, identity: Mapping[str, Any]) -> None:
    """Say which study a folder holds, or refuse one that holds another."""
    if not path.exists():
        write_json(path, identity)
        return
    try:
        kept = path.read_text()
    except (OSError, UnicodeDecodeError):
        kept = ""
    _refuse_another(kept, identity, str(path.parent), "choose another folder")


def _refuse_another(text: str, identity: Mapping[str, Any], place: str, cure: str) -> None:
    """Refuse a place that holds another study, by the JSON text there, and say in what they differ."""
    try:
        kept = json.loads(text)
    except (ValueError, RecursionError, TypeError):
        kept = None
    if not isinstance(kept, dict):
        raise StoreError(f"{place} is damaged: it does not say which study it holds; {cure}.")
    mine = json.loads(json.dumps(identity))
    differ = [key for key in {**mine, **kept} if kept.get(key) != mine.get(key)]
    if differ:
        words = ", ".join(key.replace("_", " ")[:40] for key in differ[:8])
        raise StoreError(f"{place} holds a study of another {words}; {cure}.")


def _open_journal(path: Path, study: Study) -> tuple[JournalFile, optuna.Study]:
    from optuna.storages import JournalStorage

    from workbench.tuning.optuna_extensions import JournalFile

    _mend(path)
    try:
        with _written(path), quiet():
            file = JournalFile(str(path))
            opened = optuna_study(study, study.name, JournalStorage(file))
            _name_objectives(opened, study)
            file.sync()
            return file, opened
    except StoreError:
        raise
    except Exception as problem:  # whatever Optuna raises of entries that it did not write
        raise StoreError(f"{path} is no journal of a study ({_cause_of(problem)}); choose another folder.") from None


def saved_trials(path: Path) -> list[optuna.trial.FrozenTrial]:
    """Return the trials of a journal that are over; nothing is written.

    Raises
    ------
    StoreError
        The file is no journal.
    """
    import optuna

    try:
        with quiet():
            kept = optuna.load_study(study_name=None, storage=journal_storage(path)).get_trials(deepcopy=False)
    except Exception as problem:  # whatever Optuna raises of entries that it did not write
        raise StoreError(f"{path} is no journal of the study next to it ({_cause_of(problem)}).") from None
    return [trial for trial in kept if trial.state.is_finished()]


def _cause_of(problem: Exception) -> str:
    """Return the message of an exception, on one line; its type where it has none.

    >>> _cause_of(AssertionError()), _cause_of(ValueError("no\\nnumber"))
    ('AssertionError', 'ValueError: no number')
    """
    text = " ".join(hidden(str(problem)).split()).rstrip(".")
    return type(problem).__name__ + (f": {text[:200]}" if text else "")


def optuna_study(
    study: Study,
    name: str | None = None,
    storage: optuna.storages.BaseStorage | None = None,
    sampler: optuna.samplers.BaseSampler | None = None,
) -> optuna.Study:
    """Return Optuna's study of a name in a storage, begun if there is none; in memory without a storage."""
    import optuna

    directions = [one.direction for one in study.objectives]
    return optuna.create_study(
        storage=storage, sampler=sampler, study_name=name, directions=directions, load_if_exists=True
    )


def study_with(study: Study, trials: Iterable[optuna.trial.FrozenTrial]) -> optuna.Study:
    """Return Optuna's study in memory with some trials: what is done to it changes no file and no database."""
    with quiet():
        made = optuna_study(study, study.name)
        _name_objectives(made, study)
        made.add_trials(trials)
    return made


def _name_objectives(opened: optuna.Study, study: Study) -> None:
    if opened.metric_names is None:
        opened.set_metric_names([one.measure.name for one in study.objectives])


def journal_storage(path: Path) -> optuna.storages.JournalStorage:
    """Open the journal as Optuna's storage, for those who look at it."""
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(str(path)))


def _mend(path: Path) -> None:
    """Take away what a driver that died may leave: its lock on the journal, and a last line that is not whole.

    Only the holder of the folder comes here, so no other process is writing.

    Raises
    ------
    StoreError
        The file is no journal, or leads to another file.
    """
    path.with_name(f"{path.name}.lock").unlink(missing_ok=True)
    refuse_link(path)
    if path.exists():
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            if not content.startswith(b"{"):
                raise StoreError(
                    f"{path} is no journal of a study (it does not begin with an entry); choose another folder."
                )
            with open(path, "r+b") as journal:
                journal.truncate(whole)


IDENTITY, DRIVER = "workbench:study", "workbench:driver"
PATIENCE_SECONDS = 60.0
"""How long a driver waits for a database that went away while a study is under way."""
HANDOVER_SECONDS = 5.0
"""How long a server may take to notice that the driver before this one is gone."""


class Database(TrialStore):
    """The trials of a study in a database."""

    def __init__(self, study: Study, storage: StorageAddress, identity: Mapping[str, Any]) -> None:
        """Open the study of a database, or begin one, and own it; `identity` is what makes it the same study.

        Raises
        ------
        StoreError
            The database cannot be reached, another driver owns the study, or it is another study.
        """
        self._place = storage
        self._name = storage.study
        self.where = f"{storage.without_password}: {storage.study!r}"
        self._owned: Any = None
        with self._in_one_sentence(), quiet():
            self._rows = open_database(storage)
            self._own()
            self._study = self._opened(study, identity)
            self.trials = list(self._study.get_trials(deepcopy=False))

    def _opened(self, study: Study, identity: Mapping[str, Any]) -> optuna.Study:
        opened = optuna_study(study, self._name, self._rows)
        self._id = opened._study_id
        attributes = self._rows.get_study_system_attrs(self._id)
        if IDENTITY in attributes:
            cure = "name another with storage: {url: , study: NAME}"
            _refuse_another(attributes[IDENTITY], identity, self.where, cure)
        elif self._rows.get_all_trials(self._id, deepcopy=False):
            raise StoreError(f"{self.where} was not begun by the workbench; name another study.")
        else:
            _name_objectives(opened, study)
            self._say(IDENTITY, json.dumps(identity))
        self._say(DRIVER, f"process {os.getpid()} on {socket.gethostname()}")
        return opened

    def _write(self, trial: optuna.trial.FrozenTrial) -> None:
        """Add one trial more; if the database went away meanwhile, look up whether it has the trial."""
        tried = False

        def once() -> None:
            nonlocal tried
            if not tried or self._rows.get_n_trials(self._id) == len(self.trials):
                tried = True
                self._study.add_trial(trial)

        self._patiently(once)

    def close(self) -> None:
        """Let others own the study."""
        with suppress(Exception):
            self._owned.close()
        self._rows.engine.dispose()

    def _say(self, key: str, value: str) -> None:
        self._rows.set_study_system_attr(self._id, key, value)

    def _patiently(self, act: Callable[[], None]) -> None:
        """Do something, again and again while the database is away, and only while the study is still ours."""
        from optuna.exceptions import StorageInternalError
        from sqlalchemy.exc import SQLAlchemyError

        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                self._still_own()
                act()
                return
            except (SQLAlchemyError, StorageInternalError):
                if time.monotonic() >= until:
                    with self._in_one_sentence():
                        raise
                time.sleep(0.5)

    def _own(self) -> None:
        file = self._place.file
        self._owned = _file_lock(f"{file}.driver", self.where) if file else self._session_lock()

    def _session_lock(self) -> Any:
        from sqlalchemy import text

        session = self._rows.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        query = text("SELECT pg_try_advisory_lock(hashtext(:study))")
        until = time.monotonic() + HANDOVER_SECONDS
        while not session.execute(query, {"study": f"workbench:{self._name}"}).scalar():
            if time.monotonic() >= until:
                session.close()
                raise StoreError(f"{self.where} is in use by {self._owner()}; wait for it or name another study.")
            time.sleep(0.05)
        return session

    def _owner(self) -> str:
        with suppress(Exception):
            study = self._rows.get_study_id_from_name(self._name)
            return str(self._rows.get_study_system_attrs(study).get(DRIVER, "another driver"))
        return "another driver"

    def _still_own(self) -> None:
        """Lock the study again if the session that held the lock is gone."""
        from sqlalchemy import text
        from sqlalchemy.exc import SQLAlchemyError

        if self._place.file:
            return
        try:
            self._owned.execute(text("SELECT 1"))
        except SQLAlchemyError:
            with suppress(Exception):
                self._owned.invalidate()
                self._owned.close()
            self._own()

    @contextmanager
    def _in_one_sentence(self) -> Iterator[None]:
        try:
            yield
        except WorkbenchError:
            raise
        except Exception as problem:  # whatever a database, or Optuna of rows that it did not write, raises
            cause = getattr(problem, "orig", None) or problem.__cause__ or problem
            first = hidden(str(cause).strip().splitlines()[0]) if str(cause).strip() else type(cause).__name__
            raise StoreError(
                f"the storage {self._place.without_password} cannot be used: {shown(first, 200)}."
            ) from None


def open_database(storage: StorageAddress) -> RDBStorage:
    """Open the database as Optuna's storage; lost connections are noticed before they are used.

    A server whose databases have no encoding (SQL_ASCII) would answer in bytes, which SQLAlchemy cannot read.
    """
    from optuna.storages import RDBStorage

    options = {} if storage.file else {"client_encoding": "utf8"}
    try:
        with quiet():
            return RDBStorage(storage.driven, engine_kwargs={"pool_pre_ping": True, "connect_args": options})
    except ImportError:
        raise missing_extra(f"the storage {storage.without_password}", "postgresql") from None


def _file_lock(path: str, where: str) -> TextIO:
    lock = open(path, "a+")  # noqa: SIM115 - held until the study is closed
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.seek(0)
        holder = lock.read().strip() or "another driver"
        lock.close()
        raise StoreError(f"{where} is in use by {holder}; wait for it or name another study.") from None
    lock.truncate(0)
    lock.write(f"process {os.getpid()} on {socket.gethostname()}\n")
    lock.flush()
    return lock
