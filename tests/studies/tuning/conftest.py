"""What costs most of a small study is its inert lever, and few of its tests look at it."""

from __future__ import annotations

import pytest

from workbench.studies.tuning import importances


@pytest.fixture(autouse=True)
def inert_draws(monkeypatch):
    """Draw the inert lever twice; a file that reads shares has a fixture of this name that leaves all its draws."""
    monkeypatch.setattr(importances, "INERT_DRAWS", 2)
