"""Every policy of the question `eviction` against its contract."""

from __future__ import annotations

from tests.engines.translation_cases import simulate
from workbench.policies.translation.eviction import (
    ARC,
    DRRIP,
    FIFO,
    LFU,
    LRU,
    MRU,
    S3FIFO,
    SRRIP,
    ProtectLowDegree,
    Random,
    SharingAwareEviction,
    TreePLRU,
)
from workbench.policies.translation.eviction.contract import EvictionContract


class TestLRU(EvictionContract):
    policy = LRU()


class TestMRU(EvictionContract):
    policy = MRU()


class TestFIFO(EvictionContract):
    policy = FIFO()


class TestRandom(EvictionContract):
    policy = Random()


class TestTreePLRU(EvictionContract):
    policy = TreePLRU()


class TestSRRIP(EvictionContract):
    policy = SRRIP(bits=3)


class TestDRRIP(EvictionContract):
    policy = DRRIP(sets_apart=4)


class TestLFU(EvictionContract):
    policy = LFU()


class TestARC(EvictionContract):
    policy = ARC()


class TestS3FIFO(EvictionContract):
    policy = S3FIFO(small_share=0.4)


def test_drrip_learns_from_its_watched_sets_that_a_loop_does_not_fit():
    """Six pages in turn over four entries: SRRIP never hits, a few bimodal insertions keep some pages."""
    rows = [(5000 * turn + core, core, 100 * core + turn % 6) for turn in range(60) for core in range(8)]
    machine = {"cores": 8, "private_entries": 4, "shared_entries": 0, "level_cycles": 0}
    policy = {"locate": "no_directory", "fill": "demand_always"}
    hits = {base: simulate(rows, machine, {"eviction": base, **policy}).served[:, 0] for base in ("srrip", "drrip")}
    assert hits["srrip"].sum() == hits["drrip"][0] == 0
    assert (hits["drrip"][1:] > 20).all()


class TestSharingAwareEviction(EvictionContract):
    policy = SharingAwareEviction(share_threshold=3)


class TestProtectLowDegree(EvictionContract):
    policy = ProtectLowDegree(candidates=2)
