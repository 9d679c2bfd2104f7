"""How is memory cut and joined between driver and applications? (spec 5, R12, E4, E5; section 7)

A value, not a function: `rules()` gives whole numbers that the engine works by. What is cut from one driver allocation
is joined within it alone (spec 5, E5).

What every cache owes, in a test file, for policies of this package or not:

    class TestMyCache(CacheContract):
        policy = MyCache()
"""

from __future__ import annotations

from typing import ClassVar, Literal, NamedTuple

from workbench.errors import wrong_value
from workbench.policies.arguments import whole
from workbench.policies.contract import ValueContract, output_of_a_fresh_process
from workbench.policies.policy import Policy

NEVER = 1 << 62
"""As `least_rest`: nothing is ever split off."""
APART, NEIGHBOURS, BUDDIES = range(3)
"""What is joined at a release: nothing, cached neighbors, cached buddies of equal size."""
Joining = Literal["apart", "neighbours", "buddies"]


class CacheRules(NamedTuple):
    """The whole numbers that a cache works by."""

    granule: int = 1
    """Requests are rounded up to a multiple of it."""
    classes: int = 0
    """Requests are rounded up to one of so many sizes a doubling; 0 = not so."""
    small_most: int = 0
    """Requests of at most so many bytes have a pool of their own on each card; 0 = there is one pool."""
    small_segment: int = 0
    """The driver is asked for so many bytes when the small pool lacks a block."""
    middle_most: int = 0
    """Requests below so many bytes, if not small, take a segment of `middle_segment` from the driver."""
    middle_segment: int = 0
    segment_granule: int = 1
    """What the driver is asked for otherwise is rounded up to a multiple of it."""
    least_rest: int = 1
    """A block is split if at least so many bytes remain."""
    small_least_rest: int = 1
    """The same in the small pool."""
    relative_rest: int = 0
    """1 = a block is also left whole while less than the request itself would remain, unless `large_rest` bytes do."""
    large_rest: int = NEVER
    halves: int = 0
    """1 = a block is split by halving it as often as the request still fits a half."""
    joins: int = NEIGHBOURS
    keeps: int = 1
    """0 = what is wholly cached goes back to the driver at once."""
    flushes: int = 0
    """1 = when the driver has too little, everything wholly cached goes back before the driver is asked again."""
    grows: int = 0
    """1 = each driver allocation doubles the size of the one before it on the card; 2 = it doubles what there is."""
    first_segment: int = 0
    """The size of the first driver allocation of a card that grows."""
    stitches: int = 0
    """Blocks of at least so many bytes may be joined for one request although they lie apart; 0 = never."""
    chunk: int = 1 << 21
    """Bytes of a stitched block that one call of the driver maps."""
    pages: int = 0
    """1 = each pool of a card is a segment that grows and shrinks by pages: of `small_segment` bytes the small pool's,
    of `segment_granule` bytes the other."""


class Cache(Policy, abstract=True):
    """The base of every cache; a new one needs `rules`."""

    question: ClassVar[str] = "cache"

    def rules(self) -> CacheRules:
        """Return the numbers that the engine works by."""
        raise NotImplementedError

    def block_bytes(self, size: int) -> int:
        """Return the bytes that a request takes of a cached block.

        Raises
        ------
        InputError
            The size is below 1.
        """
        size = whole("size", size, None)
        if size < 1:
            raise wrong_value("", "size", "must be at least 1 byte", size, 1)
        rules = self.rules()
        rounded = -(-size // rules.granule) * rules.granule
        return in_class(rounded, rules.classes) if rules.classes else rounded

    def segment_bytes(self, size: int) -> int:
        """Return the bytes that the driver is asked for when no cached block serves a request (the first time, if it
        grows)."""
        rules, block, size = self.rules(), self.block_bytes(size), whole("size", size)
        if size <= rules.small_most:
            return max(rules.small_segment, block)
        if block < rules.middle_most:
            return rules.middle_segment
        return max(-(-block // rules.segment_granule) * rules.segment_granule, rules.first_segment)


def in_class(size: int, classes: int) -> int:
    """Return the least size of a class that holds a size: so many to each doubling, evenly apart.

    >>> [in_class(size, 4) for size in (64, 65, 81, 128, 5)], in_class(65, 1)
    ([64, 80, 96, 128, 5], 128)
    """
    power = 1 << (size - 1).bit_length() if size > 1 else 1
    step = max(power // 2 // classes, 1)
    return -(-size // step) * step


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
        assert output_of_a_fresh_process(self.policy, _FRESH) == str(self.policy.rules())
