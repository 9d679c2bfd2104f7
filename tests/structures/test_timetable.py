"""The timetable against a sorted list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.structures.timetable import NEVER, TURN, new_timetable, next_due, put, take

delays = st.integers(0, 5) | st.integers(0, 3000) | st.sampled_from([TURN - 1, TURN, TURN + 1, 2 * TURN, 10**9])
moves = st.lists(st.tuples(st.booleans(), delays), max_size=120)


@given(moves, st.integers(1, 40))
def test_entries_come_out_by_cycle_and_then_by_entry(moves, capacity):
    table, waiting, now, serial = new_timetable(capacity), [], 0, 0
    for enters, delay in moves:
        if enters and len(waiting) < capacity:
            put(table, now + delay, serial)
            waiting.append((now + delay, serial))
            serial += 1
        elif waiting:
            now, load = min(waiting)
            waiting.remove((now, load))
            assert next_due(table) == now
            assert take(table, now) == load
        assert next_due(table) == min(waiting, default=(NEVER, 0))[0]


@given(st.lists(delays, min_size=1, max_size=60))
def test_holds_as_many_as_it_was_made_for(cycles):
    table = new_timetable(len(cycles))
    for load, cycle in enumerate(cycles):
        put(table, cycle, load)
    out = []
    while next_due(table) != NEVER:
        out.append((next_due(table), take(table, next_due(table))))
    assert out == sorted((cycle, load) for load, cycle in enumerate(cycles))
