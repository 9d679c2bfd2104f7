"""Lowest channel against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import LowestChannel
from workbench.policies.dispatch.selection.question import SelectionContract


class TestLowestChannel(SelectionContract):
    policy = LowestChannel()


@given(walks)
def test_walks_with_its_twin(walk):
    walk_together(LowestChannel(), twins.LowestChannel, prepared(walk))


def test_walks_far_with_its_twin():
    walk_far(LowestChannel(), lambda channels: twins.LowestChannel())
