"""Served marks against their contract and their slow twin, roll by roll (spec 3, R7-R11)."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import dispatch_selection as twins
from tests.policies.dispatch.selection.together import dice, prepared, walk_far, walk_together, walks
from workbench.policies.dispatch import Head, ServedMarks
from workbench.policies.dispatch.selection.question import SelectionContract

LEVERS = list(product((False, True), ("candidates", "all_channels")))


class TestServedMarks(SelectionContract):
    policy = ServedMarks()


class TestServedMarksWithEveryLeverTheOtherWay(SelectionContract):
    policy = ServedMarks(mark_on_single=True, clear_scope="all_channels", pick="lowest")


@given(st.sampled_from(LEVERS), st.sampled_from(["random", "lowest"]), walks)
def test_walks_with_its_twin(levers, pick, walk):
    single, scope = levers
    policy = ServedMarks(mark_on_single=single, clear_scope=scope, pick=pick)
    chance = (lambda: dice(policy)) if pick == "random" else (lambda: None)
    walk_together(policy, lambda: twins.ServedMarks(chance(), single, scope), prepared(walk))


@pytest.mark.parametrize(("single", "scope"), LEVERS)
def test_walks_far_with_its_twin(single, scope):
    policy = ServedMarks(mark_on_single=single, clear_scope=scope)
    walk_far(policy, lambda channels: twins.ServedMarks(dice(policy, channels), single, scope))


def test_a_mark_is_for_a_static_priority_whatever_its_rank():
    """E4: channel 0 is marked at priority 2; at another rank the mark still counts, at priority 3 it does not."""
    rounds = ServedMarks(pick="lowest").rounds(channels=2)
    assert rounds.pick(Head(0, 2), Head(1, 2)) == 0
    assert rounds.pick(Head(0, 2, rank=7), Head(1, 2, rank=7)) == 1
    assert rounds.pick(Head(0, 3), Head(1, 3)) == 0


def test_a_single_candidate_is_not_marked_unless_that_is_asked_for():
    """E2."""
    for single, then in ((False, 0), (True, 1)):
        rounds = ServedMarks(pick="lowest", mark_on_single=single).rounds(channels=2)
        assert (rounds.pick(0), rounds.pick(0, 1)) == (0, then)


def test_what_does_not_fit_blocks_nobody_and_is_not_marked():
    """R8."""
    rounds = ServedMarks(pick="lowest").rounds(channels=3)
    assert rounds.pick(Head(0, 1, fits=False), Head(1, 2), Head(2, 2)) == 1
    assert rounds.pick(Head(0, 2), Head(1, 2), Head(2, 2)) == 0
