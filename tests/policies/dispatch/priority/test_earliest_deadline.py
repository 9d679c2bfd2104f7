"""Earliest deadline first against its contract and its slow twin (spec 3, section 7)."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracles.dispatch_selection import deadline
from tests.policies.dispatch.priority.together import change_and_promise, ranks
from workbench.errors import InputError
from workbench.policies.dispatch import EarliestDeadline
from workbench.policies.dispatch.priority import FOR_EVER, PriorityContract

slacks = st.lists(st.integers(0, 500), min_size=4, max_size=4) | st.just([])


class TestEarliestDeadline(PriorityContract):
    policy = EarliestDeadline()


class TestDeadlinesGiven(PriorityContract):
    policy = EarliestDeadline(slacks=(100, 400, 500))
    sizes = (3,)


@example([100, 200, 300, 400], 7, 5, 0, 3)
@given(slacks, st.integers(1, 300), st.integers(1, 5), st.integers(0, 1 << 40), st.integers(0, 900))
def test_the_rank_is_the_time_to_the_deadline(slacks, step, priority, arrival, waited):
    rank = ranks(EarliestDeadline(slacks=slacks, cycles_a_level=step), 4)
    cycle = arrival + waited
    assert rank(cycle, priority, waited) == deadline(priority, arrival, slacks, step) - cycle


@given(slacks, st.lists(st.tuples(st.integers(1, 5), st.integers(0, 60)), min_size=2, max_size=4))
def test_an_order_never_changes(slacks, pairs):
    assert change_and_promise(EarliestDeadline(slacks=slacks), 4, pairs, 60) == (None, FOR_EVER)


def test_refuses_a_wrong_number_of_slacks():
    with pytest.raises(InputError) as refused:
        EarliestDeadline(slacks=(10, 20)).order(cycle=0, levels=3)
    assert str(refused.value) == (
        "earliest_deadline.slacks must hold one number for each of the 3 priorities. "
        "Got (10, 20). Nearest: (10, 20, 20)."
    )
    assert EarliestDeadline(slacks=(10, 20)).order(cycle=0) == (1, 2)
