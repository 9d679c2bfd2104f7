"""Advice in these tests rests on the grid of settings and a few proposals, but where more are asked for."""

import pytest

from workbench.advice.torch_memory import advice


@pytest.fixture(autouse=True)
def few_proposals(monkeypatch):
    """Sixty proposals by Optuna take most of the time of an advice on a hundred events."""
    monkeypatch.setattr(advice, "TRIALS", 4)
