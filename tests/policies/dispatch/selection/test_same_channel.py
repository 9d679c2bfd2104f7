"""Same channel against its contract and its slow twin (as found in GPGPU-Sim)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import Head, SameChannel
from workbench.policies.dispatch.selection.question import SelectionContract


class TestSameChannel(SelectionContract):
    policy = SameChannel()


class TestSameChannelThatBlocks(SelectionContract):
    policy = SameChannel(blocks=True)


@given(st.booleans(), walks)
def test_walks_with_its_twin(blocks, walk):
    walk_together(SameChannel(blocks=blocks), lambda: twins.SameChannel(blocks), prepared(walk))


@pytest.mark.parametrize("blocks", [False, True])
def test_walks_far_with_its_twin(blocks):
    walk_far(SameChannel(blocks=blocks), lambda channels: twins.SameChannel(blocks))


def test_who_takes_over_is_stayed_with():
    rounds = SameChannel().rounds(channels=3)
    assert rounds.pick(0, 1) == 0
    assert rounds.pick(Head(0, fits=False), Head(1)) == 1
    assert rounds.pick(0, 1) == 1
