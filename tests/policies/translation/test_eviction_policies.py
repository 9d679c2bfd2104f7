"""Every policy of the question `eviction` against its contract."""

from __future__ import annotations

from workbench.policies.translation.contract import EvictionContract
from workbench.policies.translation.eviction import (
    FIFO,
    LRU,
    MRU,
    SRRIP,
    ProtectLowDegree,
    Random,
    SharingAwareEviction,
    TreePLRU,
)


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


class TestSharingAwareEviction(EvictionContract):
    policy = SharingAwareEviction(share_threshold=3)


class TestProtectLowDegree(EvictionContract):
    policy = ProtectLowDegree(candidates=2)
