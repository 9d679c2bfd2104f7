"""The compiled loop of the engine `node`: the least of its own events and of those of all parts comes next (spec 6,
R2, R3).

One event is taken at a time, for what it causes at its cycle may have an earlier rank than what was to come. Of a part
and the calendar itself the part comes first, of two parts the one with the lower number.
"""

from __future__ import annotations

from workbench.compiled import RAISED, entry_point, noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import FINE, STOP, fail
from workbench.engines.kit.order import cycle_of, moment
from workbench.engines.node.directory import end_walks_again, shoot_down
from workbench.engines.node.event_heap import EVENTS, FIRST, MOMENT, SECOND, SUBJECT, take_off
from workbench.engines.node.event_heap import WHAT as WHICH
from workbench.engines.node.events import answer_call, handle_dispatch, handle_heap, handle_pool, handle_translation
from workbench.engines.node.groups import end_compute, end_touch, release_task
from workbench.engines.node.heaps import ask_for_chunk, free_chunk, give_up_blocks, give_up_call, make_call
from workbench.engines.node.links import look_at_links
from workbench.engines.node.links import next_moment as next_transfer
from workbench.engines.node.messages import take_link
from workbench.engines.node.schedule import WHAT, look_again, part_of_pool, present
from workbench.engines.node.state import COUNT, FAULT, NEEDS_ROOM, Run
from workbench.engines.node.streams import (
    ask_for,
    begin_application,
    end_step,
    free_tensor,
    put_forward,
    release_if_may,
)
from workbench.engines.node.telemetry import tell_end_of_job, tell_of_pool
from workbench.engines.node.touches import enter_touch
from workbench.structures.timetable import NEVER


@entry_point
def play(run: Run) -> None:
    """Take events until none is left or the horizon is reached; or until a part wants space, or something is wrong."""
    counters, state = run.state.counters, run.state
    end_walks_again(run)
    while counters[STOP.fault] == FINE:
        if not run.rules.skips:
            _look_at_parts(run)
        part = _soonest_part(run)
        soonest = state.soonest[part]
        own = state.event_heap.heap[0, MOMENT] if state.event_heap.counters[EVENTS] > 0 else NEVER
        by_link = next_transfer(run.links)
        comes = min(soonest, own, by_link)
        if comes >= NEVER or cycle_of(comes) >= run.rules.horizon:
            break
        if not run.rules.skips and cycle_of(comes) > present(run) + 1:
            counters[COUNT.now] = moment(present(run) + 1, 0)
            look_at_links(run.links, present(run))
            continue
        counters[COUNT.now] = comes
        if by_link == comes:
            take_link(run)
        elif soonest == comes:
            _take_of_part(run, part)
        else:
            _take_own(run)


@noinline
def _look_at_parts(run: Run) -> None:
    """Read again when the next event of every part comes, whether it was asked something or not."""
    for part in range(run.state.soonest.size):
        if run.ports.next_moment[part] != 0:
            look_again(run, part)


@noinline
def _soonest_part(run: Run) -> int:
    """Return the part whose next event is the first."""
    soonest, best = run.state.soonest, 0
    for part in range(1, soonest.size):
        if soonest[part] < soonest[best]:
            best = part
    return best


@noinline
def _take_of_part(run: Run, part: int) -> None:
    """Let a part take its next event, and read what it tells."""
    ports = run.ports
    rows = call(ports.take_next[part], ports.lent[part], ())
    if rows == RAISED or rows < 0:
        code = FAULT.part_full if rows == NEEDS_ROOM else FAULT.part
        fail(run.state.counters, code, present(run), part, rows)
        return
    is_pool = part == part_of_pool(run)
    job = tell_end_of_job(run) if is_pool else 0
    if rows > 0:
        read_answers(run, part, rows)
    if is_pool:
        tell_of_pool(run, job)
    # Last: what follows from the answers may have changed the part's next event.
    look_again(run, part)


@noinline
def read_answers(run: Run, part: int, rows: int) -> None:
    """Read what a part tells."""
    cards, applications = run.rules.cards, run.rules.applications
    if part < cards:
        handle_dispatch(run, part, rows)
    elif part < 2 * cards:
        handle_translation(run, part, rows)
    elif part < 2 * cards + cards * applications:
        handle_heap(run, part, rows)
    else:
        handle_pool(run, part, rows)


@noinline
def _take_own(run: Run) -> None:
    """Take the first event of the heap."""
    events = run.state.event_heap
    at = take_off(events)
    what, subject, words = events.heap[at, WHICH], events.heap[at, SUBJECT], events.heap[at, FIRST]
    second = events.heap[at, SECOND]
    if what == WHAT.compute_end:
        end_compute(run, subject)
    elif what == WHAT.touch:
        enter_touch(run, subject)
    elif what == WHAT.data:
        end_touch(run, subject)
    elif what == WHAT.release:
        release_task(run, subject)
    elif what == WHAT.malloc:
        make_call(run, subject)
    elif what == WHAT.malloc_answer:
        answer_call(run, subject)
    elif what == WHAT.blocks:
        give_up_blocks(run, subject)
    elif what == WHAT.late_blocks:
        give_up_call(run, subject)
    else:
        _take_of_stream(run, what, subject, words, second)


@noinline
def _take_of_stream(run: Run, what: int, subject: int, first: int, second: int) -> None:
    """Take an event of an application, a step or a tensor."""
    if what == WHAT.step_end:
        end_step(run, subject)
    elif what == WHAT.put_forward:
        put_forward(run, subject)
    elif what == WHAT.ask_pool:
        ask_for(run, subject)
    elif what == WHAT.free:
        free_tensor(run, subject)
    elif what == WHAT.late_release:
        release_if_may(run, subject)
    elif what == WHAT.ask_chunk:
        ask_for_chunk(run, subject)
    elif what == WHAT.free_chunk:
        free_chunk(run, subject)
    elif what == WHAT.shoot:
        shoot_down(run, subject, first, second)
    elif what == WHAT.arrive:
        begin_application(run, subject)
