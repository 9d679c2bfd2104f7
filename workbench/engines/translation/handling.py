"""The next event of a run, whatever it is (spec 4, T1)."""

from __future__ import annotations

from workbench.compiled import inlined, noinline
from workbench.engines.kit import STOP
from workbench.engines.translation import asking, walking
from workbench.engines.translation.answering import answer_arrives
from workbench.engines.translation.counters import COUNT, FAULT
from workbench.engines.translation.filling import copy_arrives
from workbench.engines.translation.issuing import go_on, issue
from workbench.engines.translation.knowing import hear_everywhere, hear_news
from workbench.engines.translation.network import cross_link
from workbench.engines.translation.parking import TO_UNMAP, first_behind, unpark
from workbench.engines.translation.releasing import line_up
from workbench.engines.translation.room import has_room
from workbench.engines.translation.scheduling import KIND, next_is_in_hand, take_from_hand, wake
from workbench.engines.translation.shooting_down import shoot_down_arrives
from workbench.engines.translation.state import PARKED, Run
from workbench.engines.translation.telling import answer_is_due
from workbench.engines.translation.under_way import WAITING
from workbench.engines.translation.unmapping import acknowledgement_arrives, unmap
from workbench.structures import event_queue as at
from workbench.structures.set_assoc import NONE

HANDLED = -1
"""Instead of a kind: the event is over."""


@inlined
def let_next_happen(run: Run) -> None:
    """Let the event that is next happen, if there is room for what it brings about."""
    if has_room(run):
        handle_next(run)
    else:
        run.state.counters[STOP.fault] = FAULT.needs_room


@inlined
def handle_next(run: Run) -> None:
    """Let the next event happen, in hand or of the agenda."""
    if next_is_in_hand(run):
        kind, subject, now = take_from_hand(run)
        run.state.counters[COUNT.now] = now
    else:
        kind, subject, now = _take_first(run)
    if kind != HANDLED:
        _handle(run, kind, subject, now)


@inlined
def _take_first(run: Run) -> tuple[int, int, int]:
    """Take the first event off the agenda: a message takes effect, or crosses another link, here already."""
    agenda = run.state.agenda
    place = at.take_next(agenda)
    events, here = agenda.events, place * at.EVENT
    now, kind, subject = events[here + at.CYCLE], events[here + at.WHAT], events[here + at.SUBJECT]
    run.state.counters[COUNT.now] = now
    if events[here + at.HERE] != events[here + at.GOAL]:
        cross_link(run, place, now)
        kind = HANDLED
    elif kind > KIND.refusal and kind < KIND.directory:
        _handle_message(run, place, kind, subject, now)
        kind = HANDLED
    else:
        at.give_place(agenda, place)
    return kind, subject, now


@inlined
def _handle(run: Run, kind: int, subject: int, now: int) -> None:
    """Let an event happen that is no message to a TLB or a directory."""
    if kind < KIND.copy:
        _handle_answer(run, kind, subject, now)
    elif kind == KIND.wake:
        wake_core(run, subject, now)
    else:
        _handle_request(run, kind, subject, now)


@inlined
def _handle_answer(run: Run, kind: int, miss: int, now: int) -> None:
    if kind == KIND.answer:
        answer_arrives(run, miss, now)
    elif kind == KIND.walk_ends:
        walking.walk_ends(run, miss, now)
    else:
        asking.refusal_arrives(run, miss, now)


@inlined
def _handle_request(run: Run, kind: int, miss: int, now: int) -> None:
    if kind == KIND.walkers:
        walking.request_at_walkers(run, miss, now)
    elif kind == KIND.shared:
        walking.request_at_shared(run, miss, now)
    elif kind == KIND.directory:
        asking.directory_is_read(run, miss, now)
    elif kind == KIND.departure:
        asking.request_departs(run, miss, now)
    elif kind == KIND.peer:
        asking.request_at_peer(run, miss, now)
    elif kind == KIND.peer_port:
        asking.peer_looks_up(run, miss, now)
    elif kind == KIND.shared_port:
        walking.shared_looks_up(run, miss, now)
    elif kind == KIND.centre:
        asking.request_at_centre(run, miss, now)
    else:
        asking.cluster_looks_up(run, miss, now)


@noinline
def _handle_message(run: Run, place: int, kind: int, subject: int, now: int) -> None:
    """Let a copy, news, a shoot-down, an acknowledgement or an answer take effect where it has arrived."""
    events, here = run.state.agenda.events, place * at.EVENT
    page, goal, note = events[here + at.PAGE], events[here + at.GOAL], events[here + at.NOTE]
    key, row = events[here + at.KEY], events[here + at.BY_ROW]
    if kind == KIND.news and now < note:
        events[here + at.CYCLE] = note
        at.enter(run.state.agenda, place, now)
        return
    if kind == KIND.told:
        answer_is_due(run, place, now)
        return
    at.give_place(run.state.agenda, place)
    if kind == KIND.copy:
        if note == 0:
            copy_arrives(run, goal, page, key, subject, row, now)
    elif kind == KIND.news:
        hear_news(run, goal, page, subject)
    elif kind == KIND.news_to_all:
        hear_everywhere(run, page, subject)
    elif kind == KIND.shoot_down:
        shoot_down_arrives(run, goal, page, key, subject, row, now)
    elif kind == KIND.acknowledgement:
        acknowledgement_arrives(run, subject, now)


@noinline
def wake_core(run: Run, core: int, now: int) -> None:
    """Let a core go on: with the access for which it waited, then with one row after the other behind it."""
    state, blocked = run.state, run.state.blocked[core]
    if now < state.stalled_until[core]:
        wake(run, core, state.stalled_until[core], now)
        return
    state.halted[core], state.blocked[core] = 0, NONE
    if blocked != NONE:
        go_on(run, core, blocked, now)
    elif state.behind[2 * core] != NONE:
        _issue_first_behind(run, core, now)
    if state.halted[core]:
        return
    if state.behind[2 * core] != NONE:
        state.halted[core] = 1
        wake(run, core, now, now)
    elif run.rules.warps:
        line_up(run, core, now)


@inlined
def _issue_first_behind(run: Run, core: int, now: int) -> None:
    """Issue the first row that waits behind a core."""
    parking, place = run.state.parking, first_behind(run, core)
    here = place * PARKED
    page, key, row = parking[here + WAITING.page], parking[here + WAITING.key], parking[here + WAITING.ordinal]
    name, since, why = parking[here + WAITING.name], parking[here + WAITING.since], parking[here + WAITING.why]
    unpark(run, place)
    if why == TO_UNMAP:
        unmap(run, core, page, key, row, now)
    else:
        issue(run, core, page, key, name, row, since, now)
