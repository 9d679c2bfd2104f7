"""A study in a database: the same trials, to the bit, whatever becomes of its driver or of the server."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import sqlite3
import threading
from collections import Counter

import optuna
import pytest

from benchmarks.faults.postgresql import server
from tests.needs import needs
from tests.tuning.small import Counts, small, undisturbed
from tests.tuning.test_resume import DiesAt, in_a_child
from workbench.errors import StoreError
from workbench.experiments.progress import Silent
from workbench.tuning import tune
from workbench.tuning.storages import IDENTITY, Database, open_database
from workbench.tuning.study import read_storage, read_study
from workbench.tuning.tuner import trial_store_of

pytestmark = pytest.mark.slow

SAMPLERS = [{"nsga2": {"population": 6, "seed": 3}}, {"tpe": {"startup": 4}}]
KINDS = ["sqlite", pytest.param("postgresql", marks=needs("postgresql"))]


@pytest.fixture(scope="module")
def postgresql():
    with server() as running:
        yield running


@pytest.fixture(params=KINDS)
def storage(request, tmp_path, monkeypatch):
    """A fresh study in a database of each kind that there is; a busy server notices late that a driver is gone."""
    monkeypatch.setattr("workbench.tuning.storages.HANDOVER_SECONDS", 120.0)
    monkeypatch.setattr("workbench.tuning.storages.PATIENCE_SECONDS", 300.0)
    if request.param == "sqlite":
        return {"url": f"sqlite:///{tmp_path / 'study.db'}", "study": "one"}
    return {"url": request.getfixturevalue("postgresql").url, "study": str(tmp_path)}


def kept(storage):
    """The trials as a dashboard finds them."""
    place = read_storage(storage, "", "")
    rows = open_database(place)
    try:
        return rows.get_all_trials(rows.get_study_id_from_name(place.study))
    finally:
        rows.engine.dispose()


class GoesAway(Counts):
    """Takes the database away from its study when some runs have been done; a little later it is back."""

    def __init__(self, away, at):
        super().__init__()
        self.away, self.at, self.back = away, at, []

    def advance(self, row):
        super().advance(row)
        if len(self.runs) in self.at:
            self.back.append(self.away())

    def end(self):
        for one in self.back:
            one.join()


@pytest.fixture
def away(request, storage):
    """What takes the database away: a server crashes, or somebody locks the file."""

    def locked():
        held = sqlite3.connect(read_storage(storage, "", "").file, isolation_level=None, check_same_thread=False)
        held.execute("BEGIN EXCLUSIVE")
        freed = threading.Timer(0.7, held.close)
        freed.start()
        return freed

    if storage["url"].startswith("sqlite"):
        return locked
    return functools.partial(request.getfixturevalue("postgresql").restart, away_seconds=0.7)


@pytest.mark.parametrize(("sampler", "runs"), [(SAMPLERS[0], 5), (SAMPLERS[1], 17)], ids=["nsga2", "tpe"])
def test_a_driver_killed_between_asking_and_telling(tmp_path, storage, sampler, runs):
    study = small(sampler=sampler, storage=storage)
    whole, every = undisturbed(sampler)
    assert in_a_child(lambda: tune(study, tmp_path / "out", progress=DiesAt(runs)))
    left = kept(storage)
    assert all(trial.state.is_finished() for trial in left)  # nothing is left running
    seen = Counts()
    resumed = tune(study, tmp_path / "out", progress=seen)
    assert resumed.trials.equals(whole.trials)
    assert resumed.pareto.equals(whole.pareto)
    assert len(seen.runs) == len(set(seen.runs)) == len(every) - runs
    assert [trial.params for trial in kept(storage)[: len(left)]] == [trial.params for trial in left]
    assert [trial.number for trial in kept(storage)] == list(range(20))


@pytest.mark.parametrize("sampler", SAMPLERS[:2], ids=["nsga2", "tpe"])
def test_more_trials_later_are_the_trials_of_one_long_study(storage, sampler):
    for trials in (4, 13, 20):
        stepwise = tune(small(sampler=sampler, storage=storage), trials=trials)
    assert stepwise.trials.equals(undisturbed(sampler)[0].trials)


def test_the_database_goes_away_under_a_study(tmp_path, storage, away):
    sampler = {"tpe": {"startup": 4}}
    watch = GoesAway(away, at=(3, 14))
    results = tune(small(sampler=sampler, storage=storage), tmp_path / "out", progress=watch)
    peaceful, every = undisturbed(sampler)
    assert len(watch.back) == 2
    assert results.trials.equals(peaceful.trials)
    assert sorted(watch.runs) == sorted(every)  # two workers end them in any order
    assert [trial.number for trial in kept(storage)] == list(range(20))


@pytest.mark.parametrize("lost", ["before", "after"])
def test_a_connection_that_breaks_while_a_trial_is_committed(storage, monkeypatch, lost):
    """Whether the trial was kept is looked up, not guessed."""
    from sqlalchemy.exc import OperationalError

    real, calls = optuna.Study.add_trial, Counter()

    def breaking(self, trial):
        if isinstance(self._storage, optuna.storages.InMemoryStorage):
            return real(self, trial)
        calls[trial.number] += 1
        if trial.number == 5 and calls[5] == 1:
            if lost == "after":
                real(self, trial)
            raise OperationalError("INSERT", {}, OSError("the server closed the connection"))
        return real(self, trial)

    monkeypatch.setattr(optuna.Study, "add_trial", breaking)
    results = tune(small(storage=storage))
    monkeypatch.undo()
    assert calls[5] == (2 if lost == "before" else 1)
    assert [trial.number for trial in kept(storage)] == list(range(20))
    assert results.trials.equals(undisturbed()[0].trials)


def test_one_driver_at_a_time(storage, monkeypatch):
    monkeypatch.setattr("workbench.tuning.storages.HANDOVER_SECONDS", 0.2)
    study = read_study(small(storage=storage))
    owner = trial_store_of(study, None, {"engine": "any"})
    assert isinstance(owner, Database)
    with contextlib.closing(owner), pytest.raises(StoreError) as refused:
        tune(small(storage=storage))
    place = read_storage(storage, "", "")
    assert str(refused.value) == (
        f"{place.without_password}: {place.study!r} is in use by process {os.getpid()} on {socket.gethostname()}; "
        "wait for it or name another study."
    )


def test_another_study_of_that_name_is_refused(storage):
    tune(small(storage=storage), trials=2)
    with pytest.raises(StoreError) as refused:
        tune(small(storage=storage, seeds=3))
    place = read_storage(storage, "", "")
    cure = "name another with storage: {url: , study: NAME}"
    assert str(refused.value) == f"{place.without_password}: {place.study!r} holds a study of another seeds; {cure}."


def test_trials_of_somebody_else_are_refused(storage):
    place = read_storage(storage, "", "")
    theirs = optuna.create_study(storage=open_database(place), study_name=place.study, directions=["minimize"] * 2)
    theirs.ask()
    with pytest.raises(StoreError, match="was not begun by the workbench; name another study"):
        tune(small(storage=storage))


def test_no_password_is_kept_or_said(tmp_path, storage):
    tune(small(storage=storage), tmp_path / "out", 3)
    for file in (tmp_path / "out").rglob("*"):
        assert not file.is_file() or b"secret" not in file.read_bytes(), file


@pytest.mark.parametrize("text", ["[" * 100_000, "3", "", '{"format": NaN}'], ids=["deep", "number", "empty", "NaN"])
def test_a_study_that_does_not_say_which_it_is_is_refused(storage, text):
    tune(small(storage=storage), trials=8)
    place = read_storage(storage, "", "")
    rows = open_database(place)
    rows.set_study_system_attr(rows.get_study_id_from_name(place.study), IDENTITY, text)
    with pytest.raises(StoreError, match=r"(it does not say which study it holds|holds a study of another format)"):
        tune(small(storage=storage))


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("postgresql://ada:secret@127.0.0.1:9/x", "the storage postgresql://ada@127.0.0.1:9/x cannot be used: "),
        ("sqlite:////no/such/folder/study.db", "the storage sqlite:////no/such/folder/study.db cannot be used: "),
    ],
)
def test_a_database_that_cannot_be_reached_is_one_sentence(url, sentence):
    with pytest.raises(StoreError) as refused:
        tune(small(storage=url), progress=Silent())
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)
