"""What was told is on the disk before anything more is run, and a disk that does not take it is one sentence."""

from __future__ import annotations

import errno
import os
import time

import pytest

from tests.tuning.small import small, undisturbed
from workbench.errors import StoreError
from workbench.tuning import tune
from workbench.tuning.evaluator import Evaluator
from workbench.tuning.optuna_extensions import JournalFile


@pytest.mark.slow
@pytest.mark.parametrize("sampler", [{"tpe": {"startup": 4}}, {"nsga2": {"population": 6}}])
def test_nothing_is_run_before_all_that_was_told_is_on_the_disk(tmp_path, monkeypatch, sampler):
    seen, on_disk, journal = [], [], tmp_path / "out" / "study.journal"
    real_sync, real_judge = JournalFile.sync, Evaluator.judge

    def sync(self):
        size = journal.stat().st_size
        time.sleep(0.02)  # stands for a slow disk
        real_sync(self)
        on_disk.append(size)

    def judge(self, requested, front):
        seen.append((journal.stat().st_size, on_disk[-1]))
        return real_judge(self, requested, front)

    monkeypatch.setattr(JournalFile, "sync", sync)
    monkeypatch.setattr(Evaluator, "judge", judge)
    tune(small(sampler=sampler), tmp_path / "out")
    assert len(seen) >= 4
    assert all(written == synced for written, synced in seen)
    assert on_disk[-1] == journal.stat().st_size


@pytest.mark.slow
def test_a_disk_that_does_not_take_it_is_one_sentence(tmp_path, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    tune(small(), tmp_path / "out", 2)
    monkeypatch.setattr(JournalFile, "sync", full)
    with pytest.raises(StoreError, match=r"study\.journal cannot be written: No space left on device\.$"):
        tune(small(), tmp_path / "out")
    monkeypatch.undo()
    real = JournalFile.append_logs
    monkeypatch.setattr(
        JournalFile, "append_logs", lambda self, logs: full(self) if logs[0]["op_code"] == 4 else real(self, logs)
    )
    with pytest.raises(StoreError) as refused:
        tune(small(), tmp_path / "out", 9)
    assert str(refused.value) == f"{tmp_path / 'out' / 'study.journal'} cannot be written: No space left on device."
    monkeypatch.undo()
    assert tune(small(), tmp_path / "out").trials.equals(undisturbed()[0].trials)
