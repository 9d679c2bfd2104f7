"""Whose turn it is, against `min`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.structures.timetable import NEVER, new_turns, set_turn


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 3)), max_size=30))
def test_the_first_is_the_earliest_with_the_lowest_number(parties, changes):
    turns, due = new_turns(parties), {}
    for at, (party, time) in enumerate(changes):
        number = (7 * at) % 31  # different, in no order
        due[party % parties] = time, number
        set_turn(turns, party % parties, time, number)
        assert (turns.time[1], turns.number[1]) == min(due.values())


def test_nobody_is_due():
    assert new_turns(3).time[1] == NEVER
