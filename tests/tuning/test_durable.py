"""What was told is on the disk before anything more is run, and a disk that does not take it is one sentence."""

from __future__ import annotations

import errno
import os

import pytest

from tests.tuning.small import small, undisturbed
from workbench.errors import StoreError
from workbench.tuning import tune
from workbench.tuning.objective_function import ObjectiveFunction
from workbench.tuning.optuna_extensions import JournalFile


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [{"tpe": {"startup": 4}}, {"nsga2": {"population": 6}}])
def test_nothing_is_run_before_all_that_was_told_is_on_the_disk(tmp_path, monkeypatch, sampler):
    seen, on_disk, journal = [], [], tmp_path / "out" / "study.journal"
    real_fsync, real_outcomes = os.fsync, ObjectiveFunction.outcomes

    def fsync(descriptor):
        real_fsync(descriptor)
        if os.path.samestat(os.fstat(descriptor), journal.stat()):
            on_disk.append(journal.stat().st_size)

    def outcomes(self, request, asker):
        seen.append((journal.stat().st_size, on_disk[-1]))
        return real_outcomes(self, request, asker)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(ObjectiveFunction, "outcomes", outcomes)
    tune(small(sampler=sampler), tmp_path / "out")
    assert len(seen) >= 4
    assert all(written == synced for written, synced in seen)
    assert on_disk[-1] == journal.stat().st_size


@pytest.mark.slow
def test_a_disk_that_does_not_take_it_is_one_sentence(tmp_path, monkeypatch):
    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    tune(small(), tmp_path / "out", 2)
    real = JournalFile.append_logs
    for name, method in (
        ("sync", full),
        ("append_logs", lambda self, logs: full() if logs[0]["op_code"] == 4 else real(self, logs)),
    ):
        monkeypatch.setattr(JournalFile, name, method)
        with pytest.raises(StoreError) as refused:
            tune(small(), tmp_path / "out", 9)
        assert str(refused.value) == f"{tmp_path / 'out' / 'study.journal'} cannot be written: No space left on device."
        monkeypatch.undo()
    assert tune(small(), tmp_path / "out").trials.equals(undisturbed()[0].trials)
