"""What every cache owes, as tests to join, for policies of this package or not.

from workbench.policies.pool.cache.contract import CacheContract

class TestMyCache(CacheContract):
    policy = MyCache()
"""

from __future__ import annotations

from typing import ClassVar

from workbench.policies.pool.cache.question import APART, BUDDIES, NEIGHBOURS, Cache
from workbench.policies.value_contract import ValueContract, told_by_a_fresh_interpreted_process

__all__ = ["CacheContract"]
_FRESH = """
import pickle, sys
print(pickle.load(sys.stdin.buffer).rules())
"""
_SIZES = sorted({1, 2, 3, 63, 64, 100, *(base + off for k in range(8, 34) for base in (1 << k,) for off in (-1, 0, 1))})


class CacheContract(ValueContract):
    """Tests that every cache passes; a subclass names the policy."""

    policy: ClassVar[Cache]

    def test_gives_what_was_asked_for_at_least_and_larger_requests_no_less(self) -> None:
        blocks = [self.policy.block_bytes(size) for size in _SIZES]
        assert all(block >= size for block, size in zip(blocks, _SIZES, strict=True))
        assert blocks == sorted(blocks)

    def test_rounding_again_changes_nothing(self) -> None:
        for size in _SIZES:
            block = self.policy.block_bytes(size)
            assert self.policy.block_bytes(block) == block

    def test_the_driver_is_asked_for_a_block_at_least(self) -> None:
        for size in _SIZES:
            assert self.policy.segment_bytes(size) >= self.policy.block_bytes(size)

    def test_its_numbers_are_ones_that_the_engine_knows(self) -> None:
        rules = self.policy.rules()
        assert min(rules) >= 0
        assert min(rules.granule, rules.segment_granule, rules.least_rest, rules.small_least_rest) >= 1
        assert rules.joins in (APART, NEIGHBOURS, BUDDIES)
        assert rules.grows in (0, 1, 2)
        assert not rules.grows or rules.first_segment, "what grows must begin somewhere"
        assert rules.chunk >= 1
        assert not (rules.pages and (rules.grows or rules.halves)), "pages are got as they are needed, and never halved"
        assert not (rules.pages and rules.small_segment < rules.small_most), "a small request has a page at most"
        flags = (rules.relative_rest, rules.halves, rules.keeps, rules.flushes, rules.pages)
        assert set(flags) <= {0, 1}

    def test_its_numbers_are_the_same_in_a_fresh_process(self) -> None:
        assert told_by_a_fresh_interpreted_process(self.policy, _FRESH) == str(self.policy.rules())
