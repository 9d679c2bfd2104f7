"""Samplers with needs of their own: one objective and numbers, or a package that is not there."""

from __future__ import annotations

import importlib.util

import pytest

from tests.tuning.small import small
from tests.tuning.test_resume import DiesAt, in_a_child
from workbench.errors import WorkbenchError
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


def test_no_pickle_of_cma_es_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("workbench.tuning.storages._CLOUD", "no such attribute")
    tune(NUMBERS, tmp_path / "kept")
    monkeypatch.undo()
    tune(NUMBERS, tmp_path / "out")
    texts = [(tmp_path / folder / JOURNAL).read_text() for folder in ("kept", "out")]
    assert [":optimizer:" in text for text in texts] == [True, False]


def test_gp_without_its_package_is_one_sentence_and_writes_nothing(tmp_path, monkeypatch):
    real = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else real(name, *rest))
    with pytest.raises(WorkbenchError) as refused:
        tune(small(sampler="gp"), tmp_path / "out")
    assert str(refused.value) == "the sampler gp needs PyTorch. Install it with: pip install torch."
    assert not (tmp_path / "out").exists()
