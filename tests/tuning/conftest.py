"""What costs most of a small study is its noise floor, and few of its tests look at it."""

from __future__ import annotations

import pytest

from workbench.tuning import importances


@pytest.fixture(autouse=True)
def shuffles(monkeypatch):
    """Shuffle outcomes twice; a file that reads shares has a fixture of this name that leaves all shuffles."""
    monkeypatch.setattr(importances, "SHUFFLES", 2)
