"""Round robin over dies: what is counted, in which chunks, and what a full die does (spec 7, R6, V3, V4)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.policies.dispatch.die import WAIT, DieContract, RoundRobinDies


class TestByKernel(DieContract):
    policy = RoundRobinDies()


class TestByChannel(DieContract):
    policy = RoundRobinDies(by="channel", chunk=2)


class TestByAll(DieContract):
    policy = RoundRobinDies(by="all", binding="skip")


class TestInChunks(DieContract):
    policy = RoundRobinDies(chunk=3, binding="skip")


COUNTS = st.integers(0, 60)


@examples(100, 1000)
@given(COUNTS, COUNTS, COUNTS, st.integers(1, 9), st.lists(st.integers(0, 3), min_size=1, max_size=16))
def test_the_die_follows_from_what_is_counted(group, of_channel, of_all, chunk, fits):
    """Spec 7, R6, written once more: floor(g / chunk) mod D; if it skips, the next of them that it fits."""
    counted = {"kernel": group, "channel": of_channel, "all": of_all}
    seen = {"group": group, "groups": group + 1, "of_channel": of_channel, "of_all": of_all}
    for by, number in counted.items():
        bound = RoundRobinDies(by=by, chunk=chunk).die_of(fits, **seen)
        assert bound == (number // chunk) % len(fits)
        ring = [*range(bound, len(fits)), *range(bound)]
        expected = next((die for die in ring if fits[die]), WAIT)
        assert RoundRobinDies(by=by, chunk=chunk, binding="skip").die_of(fits, **seen) == expected


def test_v4_in_chunks():
    assert [RoundRobinDies(chunk=2).die_of((1, 1), group=g) for g in range(6)] == [0, 0, 1, 1, 0, 0]
    assert [RoundRobinDies().die_of((1, 1), group=g) for g in range(6)] == [0, 1, 0, 1, 0, 1]
