"""The queue against a sorted list."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.slow import examples
from workbench.structures import event_queue as at
from workbench.structures.event_queue import (
    enter,
    first_order,
    give_place,
    new_event_queue,
    peek_order,
    take_next,
    take_place,
    with_places,
)

AHEAD = st.sampled_from([0, 0, 1, 2, 63, 64, 1023, 1024, 1025, 5000])
LOOKS = st.sampled_from([None, first_order, peek_order])
STEPS = st.lists(
    st.tuples(AHEAD, st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.booleans(), LOOKS),
    min_size=1,
    max_size=80,
)


def put(queue, cycle, order, key, row, now):
    place = take_place(queue)
    here = int(place) * at.EVENT
    queue.events[here : here + 4] = cycle, order, key, row
    enter(queue, place, now)
    return int(place)


@examples(15, 200)
@given(STEPS, st.integers(-3000, 3000))
def test_events_come_out_in_order_however_far_ahead_they_are(steps, now):
    queue, twin = new_event_queue(2), []
    for serial, (ahead, order, key, row, takes, looks) in enumerate(steps):
        if len(twin) + 1 >= queue.link.size:
            queue = with_places(queue, 2 * queue.link.size)
        twin.append((now + ahead, order, key, row, serial, put(queue, now + ahead, order, key, row, now)))
        if looks:
            assert looks(queue) == min(twin)[1]
        if takes:
            now = leave(queue, twin)
    while twin:
        leave(queue, twin)
    assert queue.counters[at.SOONEST] == at.NEVER
    assert queue.counters[at.USED] == 0


def leave(queue, twin):
    """Take the next event; events alike in all come in the order in which they were entered."""
    first = min(twin)
    assert queue.counters[at.SOONEST] == first[0]
    assert first_order(queue) == first[1]
    place = int(take_next(queue))
    assert place == first[5]
    twin.remove(first)
    give_place(queue, place)
    return first[0]


def test_who_looks_at_the_next_event_may_enter_an_earlier_one():
    queue = new_event_queue(4)
    late, next_of_all = put(queue, 5196, 0, 0, 0, now=0), put(queue, 5000, 1, 0, 0, now=0)
    assert peek_order(queue) == first_order(queue) == 1
    early = put(queue, 1100, 2, 0, 0, now=100)  # 1100 and 5196 are one cycle of the wheel
    assert [int(take_next(queue)) for _ in range(3)] == [early, next_of_all, late]


def test_a_look_sees_what_was_entered_long_before_beside_what_was_just_entered():
    queue = new_event_queue(4)
    put(queue, 5000, 0, 0, 0, now=0)
    put(queue, 5000, 1, 0, 0, now=4500)
    assert peek_order(queue) == 0
    put(queue, 4600, 2, 0, 0, now=4550)
    assert [peek_order(queue), queue.counters[at.NOW]] == [2, 4550], "the present cycle stays"


def test_events_alike_in_all_come_in_the_order_in_which_they_were_entered():
    """The first was far ahead when it was entered, the second was not."""
    queue = new_event_queue(4)
    entered = [put(queue, 1500, 0, 0, 0, now) for now in (0, 600)]
    assert [int(take_next(queue)) for _ in entered] == entered
