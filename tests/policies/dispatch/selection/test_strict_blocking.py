"""Strict blocking, the prior art, against its contract and its slow twin (spec 3, R15)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import Head, ServedMarks, StrictBlocking
from workbench.policies.dispatch.selection.question import SelectionContract

EQUALS = ["oldest", "lowest"]


class TestStrictBlocking(SelectionContract):
    policy = StrictBlocking()
    channels = (2, 3, 8, 64)


@given(st.sampled_from(EQUALS), walks)
def test_walks_with_its_twin(equals, walk):
    walk_together(StrictBlocking(equals=equals), lambda: twins.StrictBlocking(equals), prepared(walk))


@pytest.mark.parametrize("equals", EQUALS)
def test_walks_far_with_its_twin(equals):
    walk_far(StrictBlocking(equals=equals), lambda channels: twins.StrictBlocking(equals))


def test_head_of_line_blocking_is_what_matching_removes():
    """R15 against R8: the high priority fits nowhere, and only the prior art waits for it."""
    heads = (Head(0, priority=1, fits=False), Head(1, priority=2), Head(2, priority=3))
    assert StrictBlocking().rounds(channels=3).pick(*heads) is None
    assert ServedMarks().rounds(channels=3).pick(*heads) == 1
