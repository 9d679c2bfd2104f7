"""When peers serve a loop that all cores sweep: not while the cores keep step, for then no peer holds the page yet.

Cores that lag behind their pace issue an access as soon as the one before is answered. Walks that they all join answer
them all at once, so they ask for the same page in the same cycle: every directory is read before any fill is there.
"""

from __future__ import annotations

import pytest

from tests.engines.translation_cases import simulate
from workbench.records.translation import served_counts

CORES, PAGES, TURNS = 4, 12, 6
MACHINE = {"cores": CORES, "private_entries": 8, "shared_entries": 64, "walkers": 8}
DIRECTORY = {"locate": {"directory": {"scope": "oracle"}}, "fill": "demand_always", "eviction": "lru"}


def shares(apart: int, every: int = 0, **options: object) -> dict[str, float]:
    """Return who serves what share of a loop, in which each core begins so many pages before the next core."""
    rows = [
        (turn * every, core, (turn + apart * core) % PAGES) for turn in range(TURNS * PAGES) for core in range(CORES)
    ]
    record = simulate(rows, MACHINE, DIRECTORY, **options)
    return {source: count / len(rows) for source, count in served_counts(record).items()}


@pytest.mark.parametrize("news", ["links", "free"])
def test_cores_in_step_find_nothing_at_their_peers(news):
    """Whether news takes links changes nothing: in the cycle of the question there is no news yet."""
    share = shares(0, cores_issue={"warps": {"count": 1}}, news=news)
    assert share["peer"] == share["private"] == 0


def test_cores_out_of_phase_are_served_by_their_peers():
    share = shares(PAGES // CORES, cores_issue={"warps": {"count": 1}})
    assert share["peer"] > 0.8


@pytest.mark.parametrize("apart", [0, PAGES // CORES])
def test_in_step_or_not_the_pages_walked_are_the_same(apart):
    rows = [(0, core, (turn + apart * core) % PAGES) for turn in range(TURNS * PAGES) for core in range(CORES)]
    assert simulate(rows, MACHINE, DIRECTORY, cores_issue={"warps": {"count": 1}}).walks == PAGES
