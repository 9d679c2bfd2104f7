"""Oldest first against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import OldestFirst
from workbench.policies.dispatch.selection.question import SelectionContract

AMONG = ["best_rank", "all_that_fit"]


class TestOldestFirst(SelectionContract):
    policy = OldestFirst()


@given(st.sampled_from(AMONG), walks)
def test_walks_with_its_twin(among, walk):
    walk_together(OldestFirst(among=among), lambda: twins.OldestFirst(among), prepared(walk))


@pytest.mark.parametrize("among", AMONG)
def test_walks_far_with_its_twin(among):
    walk_far(OldestFirst(among=among), lambda channels: twins.OldestFirst(among))
