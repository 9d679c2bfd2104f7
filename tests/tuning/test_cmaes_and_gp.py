"""Samplers with needs of their own: one objective and numbers, or a package that is not there."""

from __future__ import annotations

import importlib.util
import pickle
import re

import pytest

from tests.tuning.small import small
from tests.tuning.test_resume import Command, DiesAt, in_a_child
from workbench.errors import StoreError, WorkbenchError
from workbench.tuning import tune
from workbench.tuning.storages import JOURNAL

NUMBERS = small(
    policy={
        "placement": {"size_segregated_ends": {"threshold": {"tune": {"most": 16}}}},
        "queue": {"fifo_lookahead": {"k": {"tune": {"least": 1, "most": 8}}}},
    },
    objectives=["drain_cycles"],
    sampler={"cmaes": {"together": 4, "seed": 2}},
    trials=24,
)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 17, 29])
def test_a_killed_cloud_goes_on_to_the_bit(tmp_path, runs):
    whole = tune(NUMBERS)
    assert in_a_child(lambda: tune(NUMBERS, tmp_path / "out", progress=DiesAt(runs)))
    assert tune(NUMBERS, tmp_path / "out").trials.equals(whole.trials)


def test_a_cloud_in_the_journal_is_read_with_care(tmp_path):
    tune(NUMBERS, tmp_path / "out")
    journal = tmp_path / "out" / JOURNAL
    bad = pickle.dumps(Command(f"touch {tmp_path / 'done'}")).hex()
    text, result = re.subn(r'("cma:optimizer:0": ?")[0-9a-f]+', rf"\g<1>{bad}", journal.read_text())
    assert result
    journal.write_text(text)
    with pytest.raises(StoreError, match="holds no sampler that can go on"):
        tune(NUMBERS, tmp_path / "out", 30)
    assert not (tmp_path / "done").exists()


def test_gp_without_its_package_is_one_sentence_and_writes_nothing(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else real(name, *rest))
    with pytest.raises(WorkbenchError) as refused:
        tune(small(sampler="gp"), tmp_path / "out")
    assert str(refused.value) == "the sampler gp needs PyTorch. Install it with: pip install torch."
    assert not (tmp_path / "out").exists()
