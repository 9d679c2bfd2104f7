"""The routines of translation as a part of a node: what is asked when is decided from outside (spec 6, R2, R11).

A core model has no say here: accesses of a core stand in one queue, which it issues one after the other. Pages may be
unmapped and cores stalled from outside, and a walk may wait until somebody says that its bytes have come.

Each routine takes the run by reference and whole numbers, and returns one whole number, so that a compiled calendar can
call it by its address. What is asked for happens at the present cycle: whoever asks has let everything that precedes
it happen. A tag names a page; a ticket is a number of the asker's own, free again when its answer is told.
"""

from __future__ import annotations

from typing import Any

from workbench.compiled import inlined, kernel, routine
from workbench.engines.kit import FINE, STOP
from workbench.engines.kit.order import LAST_CYCLE, RANK, RANKS, moment
from workbench.engines.translation.answers import TICKET_BITS, has_room
from workbench.engines.translation.directory import has_record, known_row, others_known
from workbench.engines.translation.events import (
    CORES,
    ENDS,
    KIND,
    next_cycle,
    order_in_hand,
    schedule_miss,
    soonest_in_hand,
    wake,
)
from workbench.engines.translation.frontend import unmap_everywhere
from workbench.engines.translation.lookup import FOR_CORE, NOWHERE, TO_UNMAP, find, park, wait_behind
from workbench.engines.translation.loop import begin, handle_next
from workbench.engines.translation.state import COUNT, MISS, OF, REPLY_SIZE, Run, to_int64
from workbench.policies.translation.locate import CENTRAL, DIRECTORY
from workbench.structures import event_queue as at
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, drop_core, next_core
from workbench.structures.key_index import ABSENT, known_number, number_of
from workbench.structures.key_index import has_room as has_number

REFUSED, NEEDS_ROOM, WRONG = -1, -2, -3
"""Instead of a result: there is no such thing to be asked for; nothing was done for lack of space; a policy broke its
contract."""
IN_TLB, IN_DIRECTORY = 1, 2
"""Who holds a page: a core whose own TLB does, a core whose own directory has a record of a peer's entry."""
BY_TLB, BY_DIRECTORY = 0, 1
"""Who is told of an unmapping: whose TLB held the page, whom some directory names."""
MOST_TICKETS = 1 << TICKET_BITS
_RANK_BITS = 5
_RANKS = (
    RANK.walk_ends
    | RANK.translation_answers << _RANK_BITS
    | RANK.translation_answers << 2 * _RANK_BITS
    | RANK.translation_requests << 3 * _RANK_BITS
    | RANK.issues << 4 * _RANK_BITS
)
"""The node's rank of each of the engine's: ends of walks, answers, news, requests, issues."""


@routine
def next_moment(run: Run) -> int:
    """Return the moment of what happens next, `NEVER` where nothing will."""
    own, soonest = soonest_in_hand(run), run.state.event_queue.counters[at.SOONEST]
    if own >= at.NEVER and soonest >= at.NEVER:
        return at.NEVER
    # Peek: the caller may still enter an event before this one.
    order = order_in_hand(run) if own <= soonest else at.peek_order(run.state.event_queue)
    if own == soonest:
        order = min(order, at.peek_order(run.state.event_queue))
    return moment(min(own, soonest), (_RANKS >> (_RANK_BITS * (order // CORES))) & (RANKS - 1))


@routine
def take_next(run: Run) -> int:
    """Let the next event happen, and no other; return how many answers wait."""
    counters = run.state.counters
    if next_cycle(run) < at.NEVER:
        if not has_room(run):
            return NEEDS_ROOM
        handle_next(run)
    return counters[COUNT.answered] if counters[STOP.fault] == FINE else WRONG


@routine
def ask_access(run: Run, core: int, tag: int, ticket: int, cycle: int) -> int:
    """Let a page's access enter the queue of a core; return the ticket."""
    return enter_queue(run, core, tag, tag, ticket, cycle, FOR_CORE)


@inlined
def enter_queue(run: Run, core: int, page: int, tag: int, ticket: int, cycle: int, why: int) -> int:
    """Let an access enter the queue of a core, or an unmapping by it (`why`); return the ticket."""
    counters = run.state.counters
    if core < 0 or core >= run.rules.cores or ticket < 0 or ticket >= MOST_TICKETS or _is_over(run, cycle):
        return REFUSED
    if not (has_room(run) and _has_page(run)):
        return NEEDS_ROOM
    begin(run, cycle)
    counters[COUNT.now] = cycle
    if why != TO_UNMAP:
        counters[COUNT.last_start] = cycle
    ordinal = (counters[COUNT.tickets] << TICKET_BITS) + ticket
    counters[COUNT.tickets] += 1
    number = to_int64(number_of(run.state.numbers, tag))
    wait_behind(run, core, park(run, cycle, page, number, tag, ordinal, why, cycle))
    # A halted core is woken already, or will be: it issues the accesses behind it in turn.
    if not run.state.halted[core]:
        run.state.halted[core] = 1
        wake(run, core, max(cycle, run.state.stalled_until[core]), cycle)
    return ticket


@kernel
def _is_over(run: Run, cycle: int) -> bool:
    """Return whether a cycle is past, or too late for any calendar."""
    counters = run.state.counters
    return bool((counters[COUNT.started] and cycle < counters[COUNT.now]) or cycle > LAST_CYCLE)


@kernel
def _has_page(run: Run) -> bool:
    """Return whether there is space for another page."""
    numbers, room = run.state.numbers, run.state.held.size // run.rules.words
    return has_number(numbers) and bool(numbers.given[0] < room)


@routine
def ask_unmap(run: Run, tag: int, by: int, cycle: int) -> int:
    """Take a page out of every TLB; return how many private TLBs held it.

    Those, or those that directories name (`by`), are added to the cores that `take_holder` returns.
    """
    if _is_over(run, cycle):
        return REFUSED
    run.state.counters[COUNT.now] = cycle
    page = known_number(run.state.numbers, tag)
    if page == ABSENT:
        return 0
    _gather_holders(run, page, by)
    return unmap_everywhere(run, page, tag, 0, cycle)


@inlined
def _gather_holders(run: Run, page: int, by: int) -> None:
    """Add the cores that are to be told of an unmapping."""
    rules, state = run.rules, run.state
    # Directories that are always right name every holder: a central one does, else each holder's own.
    if by == BY_TLB or not rules.beliefs:
        if by == BY_TLB or run.policies.plan.kind == DIRECTORY or run.policies.plan.kind == CENTRAL:
            _add_cores(run, state.held, page * rules.words)
        return
    for core in range(rules.cores):
        _add_cores(run, state.belief, known_row(run, core, page))


@kernel
def _add_cores(run: Run, words: Any, row: int) -> None:
    for word in range(run.rules.words):
        run.state.holders[word] |= words[row + word]


@routine
def take_holder(run: Run) -> int:
    """Return the lowest core that was gathered by unmappings, and leave it out from now on; -1 = there is none."""
    core = next_core(run.state.holders, FIRST_WORD, run.rules.words, FIRST_WORD)
    if core != NOBODY:
        drop_core(run.state.holders, FIRST_WORD, core)
    return core


@routine
def stall(run: Run, core: int, until: int, cycle: int) -> int:
    """Let a core issue nothing before a cycle; return the cycle at which its stall ends, which may be a later one."""
    state = run.state
    if core < 0 or core >= run.rules.cores or _is_over(run, cycle) or until > LAST_CYCLE:
        return REFUSED
    # Stalls may overlap: only cycles beyond the present stall count.
    begins = max(cycle, state.stalled_until[core])
    if until <= begins:
        return begins
    state.stalled[core] += until - begins
    state.stalled_until[core] = until
    return until


@routine
def stalled(run: Run, core: int, cycle: int) -> int:
    """Return for how many cycles a core was stalled before a cycle, the present one or one of its last stall."""
    return run.state.stalled[core] - max(run.state.stalled_until[core] - cycle, 0)


@routine
def end_walk(run: Run, walk: int, cycle: int) -> int:
    """Let a walk that is read end at a cycle, when its bytes have come; return the walk."""
    misses, row = run.state.misses, walk * MISS
    if walk < 0 or row >= misses.size or _is_over(run, cycle):
        return REFUSED
    if misses[row + OF.read] == NOWHERE or misses[row + OF.ended] != NOWHERE:
        return REFUSED
    if not has_room(run):
        return NEEDS_ROOM
    misses[row + OF.ended] = cycle
    schedule_miss(run, cycle, run.state.counters[COUNT.now], KIND.walk_ends, ENDS, walk)
    return walk


@routine
def score_held(run: Run, tag: int, how: int) -> int:
    """Add 1 to the score of each core that holds a page; return the number of these cores.

    A page that was scored since a score was taken counts no more.
    """
    page, count, scoring = known_number(run.state.numbers, tag), 0, run.state.counters[COUNT.scorings] + 1
    if page != ABSENT and run.state.scored[page] != scoring:
        run.state.scored[page] = scoring
        for core in range(run.rules.cores):
            if _holds(run, core, page, how):
                run.state.scores[core] += 1
                count += 1
    return count


@kernel
def _holds(run: Run, core: int, page: int, how: int) -> bool:
    if how & IN_TLB and find(run, core, page) != NOWHERE:
        return True
    if not how & IN_DIRECTORY or run.policies.plan.kind != DIRECTORY:
        return False
    return bool(has_record(run, core, page) and others_known(run, core, page) > 0)


@routine
def take_score(run: Run, core: int) -> int:
    """Return the score of a core, which is 0 from now on."""
    score = run.state.scores[core]
    run.state.scores[core] = 0
    run.state.counters[COUNT.scorings] += 1
    return score


@routine
def answer_of(run: Run, place: int, field: int) -> int:
    """Return a field (`state.Reply`) of an answer that waits; the oldest has place 0."""
    return run.state.answers[place * REPLY_SIZE + field]


@routine
def forget_answers(run: Run) -> int:
    """Forget the answers that wait, which were taken."""
    run.state.counters[COUNT.answered] = 0
    return 0
