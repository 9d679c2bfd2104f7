"""Every cache joins its contract."""

from workbench.policies.pool import (
    Bfc,
    BinaryBuddies,
    ExpandableSegments,
    NoCache,
    PytorchCaching,
    RmmPool,
    SizeClasses,
    SplitAndCoalesce,
    Stitching,
)
from workbench.policies.pool.cache import CacheContract


class TestBfc(CacheContract):
    policy = Bfc(first_region=4096)


class TestBinaryBuddies(CacheContract):
    policy = BinaryBuddies(segment=4096)


class TestExpandableSegments(CacheContract):
    policy = ExpandableSegments(large_page=5 << 20)


class TestNoCache(CacheContract):
    policy = NoCache()


class TestPytorchCaching(CacheContract):
    policy = PytorchCaching()


class TestRmmPool(CacheContract):
    policy = RmmPool(initial=4096)


class TestSizeClasses(CacheContract):
    policy = SizeClasses(classes=8)


class TestSplitAndCoalesce(CacheContract):
    policy = SplitAndCoalesce(align=64, min_remainder=128)


class TestSplitAndCoalesceOtherwise(CacheContract):
    policy = SplitAndCoalesce(split=False, coalesce=False)


class TestStitching(CacheContract):
    policy = Stitching(least_piece=4096)
