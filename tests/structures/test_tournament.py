"""The earliest of a few times, against `min`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.structures.timetable import NEVER, first_place, new_tournament, set_time


@given(st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5)), max_size=30))
def test_the_first_place_has_the_earliest_time(places, changes):
    tournament, times = new_tournament(places), [NEVER] * places
    for place, time in changes:
        times[place % places] = time
        set_time(tournament, place % places, time)
        assert tournament[1] == min(times)
        assert first_place(tournament) == times.index(min(times))
