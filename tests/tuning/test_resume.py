"""A study that was killed goes on as if it had not been: the same trials, to the bit, and no finished run again."""

import os
import signal

import optuna
import pytest

from tests.slow import thinned
from tests.tuning.small import Counts, small, undisturbed
from workbench.errors import StoreError
from workbench.experiments.progress import Silent
from workbench.tuning import tune
from workbench.tuning.storages import JOURNAL, Journal

SAMPLERS = [
    {"nsga2": {"population": 6, "seed": 3}},
    {"tpe": {"startup": 4}},
    {"tpe": {"startup": 4, "together": 3}},
    {"qmc": {"together": 4}},
    {"nsga3": {"population": 6}},
]


def study(sampler):
    return small(sampler=sampler)


class DiesAt(Silent):
    """Kills the process when a number of runs have been kept, as hard as can be."""

    def __init__(self, runs):
        self.left = runs

    def advance(self, row):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def in_a_child(body):
    """Do something in a process of its own; True if it was killed."""
    child = os.fork()
    if child == 0:
        try:
            body()
        finally:
            os._exit(7)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("runs", [1, 5, 11, 17])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_killed_study_goes_on_to_the_bit(tmp_path, sampler, runs):
    whole, every = undisturbed(sampler)
    assert in_a_child(lambda: tune(study(sampler), tmp_path / "out", progress=DiesAt(runs)))
    seen = Counts()
    resumed = tune(study(sampler), tmp_path / "out", progress=seen)
    assert resumed.trials.equals(whole.trials)
    assert resumed.pareto.equals(whole.pareto)
    assert len(seen.runs) == len(set(seen.runs)) == len(every) - runs


@pytest.mark.parametrize("sampler", thinned(SAMPLERS, 2))
@pytest.mark.parametrize("told", [pytest.param(1, marks=pytest.mark.slow), 4, pytest.param(7, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_a_death_between_two_trials_of_a_batch(tmp_path, monkeypatch, sampler, told):
    real = Journal._write

    def dying(self, trial):
        real(self, trial)
        if trial.number + 1 == told:
            os.kill(os.getpid(), signal.SIGKILL)

    def body():
        monkeypatch.setattr(Journal, "_write", dying)
        tune(study(sampler), tmp_path / "out")

    assert in_a_child(body)
    assert tune(study(sampler), tmp_path / "out").trials.equals(undisturbed(sampler)[0].trials)


@pytest.mark.slow
@pytest.mark.parametrize("sampler", thinned(SAMPLERS, 9))
def test_more_trials_later_are_the_trials_of_one_long_study(tmp_path, sampler):
    for trials in (4, 9, 20):
        stepwise = tune(study(sampler), tmp_path / "out", trials)
    assert stepwise.trials.equals(undisturbed(sampler)[0].trials)
    assert len(tune(study(sampler), tmp_path / "out", 5).trials) == 20


@pytest.mark.slow
def test_what_a_dead_driver_leaves_in_the_journal_is_mended(tmp_path):
    tune(small(), tmp_path / "out", 8)
    journal = tmp_path / "out" / JOURNAL
    with open(journal, "ab") as torn:
        torn.write(b'{"op_code": 4, "wor')
    (tmp_path / "out" / f"{JOURNAL}.lock").symlink_to(journal)
    assert tune(small(), tmp_path / "out").trials.equals(undisturbed()[0].trials)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"policy": {"placement": {"tune": ["first_fit", "last_fit"]}}}, "search space"),
        ({"policy": {"placement": {"tune": ["first_fit", "worst_fit"]}}}, "search space"),
        ({"seeds": 3}, "seeds"),
        ({"sampler": {"nsga2": {"population": 7, "seed": 3}}}, "sampler"),
        ({"objectives": ["drain_cycles"]}, "objectives"),
        ({"workload": "bimodal", "machine": {"segments": 64}}, "workload, search space"),
    ],
)
def test_a_folder_of_another_study_is_refused(tmp_path, changed, what):
    tune(small(), tmp_path / "out", 2)
    with pytest.raises(StoreError) as refused:
        tune(small(**changed), tmp_path / "out")
    assert str(refused.value) == f"{tmp_path / 'out'} holds a study of another {what}; choose another folder."
    assert len(tune(small(), tmp_path / "out", 2).trials) == 2


def test_a_folder_of_a_sweep_is_refused(tmp_path):
    import workbench as wb

    wb.run({"engine": "shared_memory", "workload": "bimodal", "seeds": 1}, tmp_path / "out")
    with pytest.raises(StoreError, match="belongs to the sweep 'sweep', not to 'study study'"):
        tune(small(), tmp_path / "out", 2)


def test_a_journal_that_lost_trials_goes_on_and_does_them_again(tmp_path):
    tune(small(), tmp_path / "out", 12)
    journal = tmp_path / "out" / JOURNAL
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:6]))
    assert tune(small(), tmp_path / "out").trials.equals(undisturbed()[0].trials)


def test_a_journal_of_other_trials_is_refused(tmp_path):
    tune(small(), tmp_path / "out", 3)
    journal = tmp_path / "out" / JOURNAL
    text = journal.read_text()
    assert '"policy.queue":0' in text
    journal.write_text(text.replace('"policy.queue":0', '"policy.queue":1'))
    with pytest.raises(StoreError) as refused:
        tune(small(), tmp_path / "out")
    assert str(refused.value) == (
        f"{journal}: trial 1 is not what nsga2 of Optuna {optuna.__version__} proposes now (policy.queue: kept "
        "'fifo_lookahead', now 'fifo_head_only'); begin a new study in another folder, or with another sampler."
    )
