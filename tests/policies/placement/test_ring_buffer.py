"""The ring against its contract and a twin that keeps its own FIFO (Vortex)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import placement as slow
from tests.policies.placement.together import moves, segments, walk_far, walk_together
from workbench.policies.placement import RingBuffer
from workbench.policies.placement.contract import PlacementContract


class TestRingBuffer(PlacementContract):
    policy = RingBuffer()


class TestRingBufferKept(PlacementContract):
    policy = RingBuffer(when_empty="keep")


class TestRingBufferWrapping(PlacementContract):
    policy = RingBuffer(at_end="wraps", when_empty="keep")


class TestRingBufferWrappingRewound(PlacementContract):
    policy = RingBuffer(at_end="wraps")


@given(segments, moves)
def test_walks_with_its_twin(segments, moves):
    walk_together(RingBuffer(), slow.RingBuffer(segments), moves)


def test_walks_far_with_its_twin():
    walk_far(RingBuffer(), slow.RingBuffer)


@given(segments, moves)
def test_walks_with_its_twin_kept(segments, moves):
    walk_together(RingBuffer(when_empty="keep"), slow.RingBuffer(segments, "fits", "keep"), moves)


def test_walks_far_with_its_twin_kept():
    walk_far(RingBuffer(when_empty="keep"), lambda n: slow.RingBuffer(n, "fits", "keep"))


@given(segments, moves)
def test_walks_with_its_twin_wrapping(segments, moves):
    walk_together(RingBuffer(at_end="wraps", when_empty="keep"), slow.RingBuffer(segments, "wraps", "keep"), moves)


def test_walks_far_with_its_twin_wrapping():
    walk_far(RingBuffer(at_end="wraps", when_empty="keep"), lambda n: slow.RingBuffer(n, "wraps", "keep"))


@given(segments, moves)
def test_walks_with_its_twin_wrappingrewound(segments, moves):
    walk_together(RingBuffer(at_end="wraps"), slow.RingBuffer(segments, "wraps", "rewind"), moves)


def test_walks_far_with_its_twin_wrappingrewound():
    walk_far(RingBuffer(at_end="wraps"), lambda n: slow.RingBuffer(n, "wraps", "rewind"))
