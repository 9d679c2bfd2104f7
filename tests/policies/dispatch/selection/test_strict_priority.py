"""Strict priority without blocking, against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import StrictPriority
from workbench.policies.dispatch.selection.question import SelectionContract


class TestStrictPriority(SelectionContract):
    policy = StrictPriority()


@given(walks)
def test_walks_with_its_twin(walk):
    walk_together(StrictPriority(), twins.StrictPriority, prepared(walk))


def test_walks_far_with_its_twin():
    walk_far(StrictPriority(), lambda channels: twins.StrictPriority())


def test_a_low_channel_starves_the_others_of_its_rank():
    rounds = StrictPriority().rounds(channels=3)
    assert {rounds.pick(0, 1, 2) for _ in range(50)} == {0}
