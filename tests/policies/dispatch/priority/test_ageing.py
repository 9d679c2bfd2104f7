"""Ageing against its contract and its slow twin, which looks at every cycle of a wait (spec 3, section 7)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.oracles.dispatch_selection import aged
from tests.policies.dispatch.priority.together import change_and_promise, ranks
from workbench.policies.dispatch import Ageing
from workbench.policies.dispatch.priority import FOR_EVER, PriorityContract


class TestAgeing(PriorityContract):
    policy = Ageing(cycles_a_level=50)


class TestAgeingWithoutAnEnd(PriorityContract):
    policy = Ageing(cycles_a_level=50, above_highest=True)


@given(st.integers(1, 40), st.booleans(), st.integers(1, 9), st.integers(0, 300), st.integers(0, 300))
def test_rises_as_its_twin(step, above, priority, arrival, waited):
    rank = ranks(Ageing(cycles_a_level=step, above_highest=above), 8)
    cycle = arrival + waited
    assert rank(cycle, priority, waited) == aged(priority, arrival, cycle, step, above)


groups = st.lists(st.tuples(st.integers(1, 5), st.integers(0, 60)), min_size=2, max_size=4)


@given(st.integers(1, 40), st.booleans(), groups, st.integers(60, 200))
def test_an_order_never_changes_before_it_is_said_to(step, above, pairs, cycle):
    change, promise = change_and_promise(Ageing(cycles_a_level=step, above_highest=above), 4, pairs, cycle)
    assert promise > cycle
    assert change is None or promise <= change
    if above:
        assert (change, promise) == (None, FOR_EVER)
    elif change is not None:
        assert change % step == 0, "orders change at ticks alone"


def test_a_promise_is_as_long_as_it_can_be():
    """Two groups that a tick brings level: the order changes exactly when the policy says that it may."""
    change, promise = change_and_promise(Ageing(cycles_a_level=50), 4, [(1, 0), (2, 0)], 12)
    assert change == promise == 50


def test_a_low_priority_reaches_the_top_after_a_bounded_wait():
    rank = ranks(Ageing(cycles_a_level=100), 4)
    assert all(rank(cycle, 4, 300) == 1 for cycle in range(300, 500))
