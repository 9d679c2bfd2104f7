"""Every policy of the pool joins the contract of its question, tells its source and its ties, and is exported."""

from pathlib import Path

import pytest

import workbench.policies.pool as room
from tests.policies.joined import built_in, joined, silent

HERE = Path(__file__).parent
FILES = {
    "cache": ("test_caches.py", "CacheContract"),
    "cache_fit": ("test_fits.py", "FitContract"),
    "idle_release": ("test_idle_releases.py", "IdleContract"),
    "residency": ("test_residencies.py", "ResidencyContract"),
    "target": ("test_targets.py", "TargetContract"),
}


@pytest.mark.parametrize("question", FILES)
def test_every_policy_joins_the_contract(question):
    file, contract = FILES[question]
    assert joined((HERE / file).read_text(), contract) == set(built_in(question).values())


@pytest.mark.parametrize("question", FILES)
def test_every_policy_tells_its_source_and_its_ties(question):
    assert silent(question) == []


def test_every_policy_is_exported():
    for question in FILES:
        assert set(built_in(question).values()) <= set(room.__all__)
    assert all(hasattr(room, name) for name in room.__all__)
