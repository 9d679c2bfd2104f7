"""The break-even of section 4 against the engine: where nothing queues, both say the same to the cycle."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engines.translation_cases import simulate
from workbench.explain.break_even import CASES, break_even, pays
from workbench.records.translation import SERVED_BY, TranslationRecord

CORES, PAGES, COUNT, APART = 6, 12, 400, 1000
"""Accesses are so many cycles apart that each is served before the next is issued."""


def rows(sharing: float, apart: int) -> list[tuple[int, int, int]]:
    """Accesses of cores in random order, some to pages of all, the others to own ones."""
    draw = np.random.default_rng(7)
    core = draw.integers(0, CORES, COUNT)
    own = np.where(draw.random(COUNT) < sharing, 0, core + 1)
    page = own * PAGES + draw.integers(0, PAGES, COUNT)
    return [(apart * k, int(core[k]), int(page[k])) for k in range(COUNT)]


def both(
    case: tuple[int, int, int], sharing: float, update: object, apart: int = APART, links: int = 0
) -> tuple[TranslationRecord, TranslationRecord]:
    """Runs without and with the directory, on a machine where every peer is one hop away and every page fits in the
    shared TLB once it is known."""
    shared, remote, look_up = case
    machine = {"cores": CORES, "private_entries": 6, "private_cycles": 0, "network": "crossbar",
               "hop_cycles": remote // 2, "shared_entries": 128, "shared_cycles": shared, "walkers": 8,
               "level_cycles": 20, "link_cycles": links}  # fmt: skip
    directory = {"directory": {"scope": "oracle", "look_up_cycles": look_up, "update": update}}
    ways = ("no_directory", directory)
    without, having = (
        simulate(rows(sharing, apart), machine, {"fill": "demand_always", "locate": way}) for way in ways
    )
    return without, having


def misses(record: TranslationRecord) -> int:
    return int(record.served.sum() - record.served[:, SERVED_BY.index("private")].sum())


@pytest.mark.parametrize("update", ["instant", {"message": {"delay": 20 * APART}}], ids=["instant", "late"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_latency_of_a_miss_changes_by_what_the_algebra_says(case, update):
    shared, remote, look_up = case
    signs = []
    for sharing in (0.02, 0.1, 0.3, 0.9):
        without, having = both(case, sharing, update)
        total = misses(without)
        assert total == misses(having) > 0 and without.walks == having.walks
        named, stale = having.remote_requests, having.stale
        assert (stale > 0) == (update != "instant" and sharing > 0.02)
        gained = int(without.latency_sums.sum() - having.latency_sums.sum())
        x, f = named / total, stale / max(named, 1)
        assert gained == named * (shared - remote) - stale * shared - total * look_up
        assert gained / total == pytest.approx(x * (shared - remote - f * shared) - look_up)
        assert pays(x, shared, remote, look_up, f) == (gained > 0)
        signs.append(gained > 0)
    reached = break_even(shared, remote, look_up) is not None
    assert signs[0] is False and (signs[-1] is True or not reached or update != "instant")


def test_what_queues_is_not_in_the_algebra():
    """Messages that wait for links cost what no term stands for: the check above would notice."""
    without, having = both((12, 4, 1), 0.9, "instant", apart=1, links=40)
    gained = int(without.latency_sums.sum() - having.latency_sums.sum())
    assert having.noc_queue_cycles > 0
    assert gained < having.remote_requests * (12 - 4) - misses(having)
