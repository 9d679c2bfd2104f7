"""Answers to whoever asked for an access: which was issued or served, by what, and when (spec 6, R2, R18).

Which walk was read is answered too. A stretch of the loop ends when there is no space for all that the next event can
bring about.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.kit import numbered
from workbench.engines.translation.events import ANSWERS, CORES, KIND, SOURCE_BITS, most_events, schedule
from workbench.engines.translation.state import COUNT, MISS, OF, PARKED, REPLY, REPLY_SIZE, Run, to_int64
from workbench.records.translation import SERVED_BY
from workbench.structures import event_queue as at
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, next_core

TICKET_BITS = 26
"""Bits of a ticket; above them an access has its number, in the order of asking."""

PRIVATE, WALK = to_int64(SERVED_BY.index("private")), SERVED_BY.index("walk")


class Answers(NamedTuple):
    """What an answer says."""

    issued: int
    """An access left the queue of its core: it hit, joined a miss, or took a register."""
    answered: int
    walk_read: int
    """The page tables are read; the bytes of the walk are still to come."""
    directory: int
    """With this and what follows only where rows are kept: a directory was read; it names so many others."""
    named: int
    """One of these, in a row of its own behind."""
    peer: int
    """A peer was looked up: twice its core, and 1 where it holds the page."""
    shared: int
    """The shared TLB was looked up: 1 where it holds the page."""
    walk_request: int
    """A miss came to the walkers, or tries again after a wait for a place."""
    walk: int
    """A walk began."""
    walked: int
    """It ended, with its bytes."""
    filled: int
    """A core's own TLB took the page, in place of a victim's tag, -1 = of none."""


class Ways(NamedTuple):
    """How an access was issued."""

    hit: int
    joined: int
    took_register: int


SAYS, WAY = numbered(Answers), numbered(Ways)


@noinline
def tell(run: Run, kind: int, ordinal: int, cycle: int, what: int, core: int, tag: int) -> int:
    """Write an answer in which no walk has a part; return where it begins."""
    answers, counters = run.state.answers, run.state.counters
    here = REPLY_SIZE * counters[COUNT.answered]
    counters[COUNT.answered] += 1
    answers[here + REPLY.kind], answers[here + REPLY.ticket] = kind, ordinal & ((1 << TICKET_BITS) - 1)
    answers[here + REPLY.cycle], answers[here + REPLY.what] = cycle, what
    answers[here + REPLY.core], answers[here + REPLY.tag] = core, tag
    _write_walk(run, here, cycle, cycle, cycle, cycle)
    return here


@inlined
def _write_walk(run: Run, here: int, queued: int, begun: int, read: int, ended: int) -> None:
    answers = run.state.answers
    answers[here + REPLY.queued], answers[here + REPLY.begun] = queued, begun
    answers[here + REPLY.read], answers[here + REPLY.ended] = read, ended


@inlined
def tell_issue(run: Run, core: int, key: int, ordinal: int, way: int, now: int) -> None:
    """Tell that an access is issued, where somebody asks."""
    if run.rules.keeps_answers:
        tell(run, SAYS.issued, ordinal, now, way, core, key)


@inlined
def tell_row(run: Run, miss: int, kind: int, what: int, now: int) -> None:
    """Tell what happens to a miss, where rows are kept."""
    if run.rules.keeps_rows:
        _tell_row(run, miss, kind, what, now)


@noinline
def _tell_row(run: Run, miss: int, kind: int, what: int, now: int) -> None:
    misses, row = run.state.misses, miss * MISS
    tell(run, kind, misses[row + OF.ordinal], now, what, misses[row + OF.core], misses[row + OF.key])


@noinline
def tell_holders(run: Run, miss: int, count: int, now: int) -> None:
    """Tell what a directory says: who may be asked, from the lowest core on, `count` of them."""
    _tell_row(run, miss, SAYS.directory, count, now)
    if count > 0:
        words, first = run.rules.words, miss * run.rules.words
        peer = next_core(run.state.left, first, words, FIRST_WORD)
        while peer != NOBODY:
            _tell_row(run, miss, SAYS.named, peer, now)
            peer = next_core(run.state.left, first, words, peer + 1)


@noinline
def fill_comes_first(run: Run, first: int) -> None:
    """Let the fill of an answer stand before the rows of those who are answered, which begin at a given one."""
    answers, last = run.state.answers, run.state.counters[COUNT.answered] - 1
    if last < first or answers[last * REPLY_SIZE + REPLY.kind] != SAYS.filled:
        return
    for field in range(REPLY_SIZE):
        moved = answers[last * REPLY_SIZE + field]
        for row in range(last, first, -1):
            answers[row * REPLY_SIZE + field] = answers[(row - 1) * REPLY_SIZE + field]
        answers[first * REPLY_SIZE + field] = moved


@noinline
def tell_hit(run: Run, core: int, key: int, ordinal: int, done: int, now: int) -> None:
    """Tell that an access is issued, and, when its look-up is done, that its core's own TLB answers it."""
    tell(run, SAYS.issued, ordinal, now, WAY.hit, core, key)
    _tell_later(run, core, key, ordinal, PRIVATE, done, now)


@noinline
def tell_answer(run: Run, miss: int, ordinal: int, source: int, done: int, now: int) -> None:
    """Tell that an access which waited for a miss is answered, not before its own look-up is done."""
    misses, row = run.state.misses, miss * MISS
    core, key = misses[row + OF.core], misses[row + OF.key]
    queued, begun, read, ended = _walk_of(run, miss, now)
    if done > now:
        events, here = run.state.event_queue.events, _tell_later(run, core, key, ordinal, source, done, now) * at.EVENT
        # SUBJECT carries the end of the walk, which was `done` so far. HERE and GOAL must be equal, or the loop takes
        # the event for a message on its way.
        events[here + at.SUBJECT] += (ended - done) << SOURCE_BITS
        events[here + at.PAGE], events[here + at.NOTE] = queued, begun
        events[here + at.HERE], events[here + at.GOAL] = read, read
    else:
        _write_walk(run, tell(run, SAYS.answered, ordinal, now, source, core, key), queued, begun, read, ended)


@noinline
def _tell_later(run: Run, core: int, key: int, ordinal: int, source: int, done: int, now: int) -> int:
    """Let an answer be told at a later cycle; return its event, whose numbers say that no walk has a part in it."""
    subject = (done << SOURCE_BITS) + source
    place = schedule(run, done, now, KIND.answer_due, ANSWERS, core, key, ordinal, subject)
    events, here = run.state.event_queue.events, place * at.EVENT
    events[here + at.PAGE], events[here + at.NOTE] = done, done
    events[here + at.HERE], events[here + at.GOAL] = done, done
    return place


@kernel
def _walk_of(run: Run, miss: int, now: int) -> tuple[int, int, int, int]:
    """Return the cycles at which a miss that is answered now came to the walkers, its walk began, was read and ended;
    now, where no walk had a part."""
    misses, row = run.state.misses, miss * MISS
    begun = misses[row + OF.begun]
    if begun == NOBODY:
        return now, now, now, now
    walked = misses[row + OF.source] == WALK
    return misses[row + OF.queued], begun, max(misses[row + OF.read], begun) if walked else now, now


@noinline
def answer_is_due(run: Run, place: int, now: int) -> None:
    """Tell an answer whose look-up is done; its event's place is free afterwards."""
    events, here = run.state.event_queue.events, place * at.EVENT
    core, key, ordinal = events[here + at.ORDER] % CORES, events[here + at.KEY], events[here + at.BY_ROW]
    subject = events[here + at.SUBJECT]
    row = tell(run, SAYS.answered, ordinal, now, subject & ((1 << SOURCE_BITS) - 1), core, key)
    queued, begun, read = events[here + at.PAGE], events[here + at.NOTE], events[here + at.GOAL]
    _write_walk(run, row, queued, begun, read, subject >> SOURCE_BITS)
    at.give_place(run.state.event_queue, place)


@noinline
def waits_for_bytes(run: Run, miss: int, now: int) -> bool:
    """Return whether a walk was read now, which is told, and its bytes are still to come; else it ends."""
    misses, row = run.state.misses, miss * MISS
    if run.rules.walks_wait and misses[row + OF.read] == NOBODY:
        misses[row + OF.read] = now
        _tell_row(run, miss, SAYS.walk_read, miss, now)
        return True
    _note_end(run, miss, now)
    tell_row(run, miss, SAYS.walked, NOBODY, now)
    return False


@kernel
def _note_end(run: Run, opener: int, now: int) -> None:
    """Note when the walk that ends now was read, for all who wait for it."""
    misses = run.state.misses
    read, miss = misses[opener * MISS + OF.read], misses[opener * MISS + OF.next]
    if read == NOBODY:
        read = misses[opener * MISS + OF.read] = now
    while miss != NOBODY:
        misses[miss * MISS + OF.read] = read
        miss = misses[miss * MISS + OF.next]


@kernel
def most_answers(cores: int, counters: Any) -> int:
    """Return the largest number of answers of one event: for those who joined a miss, for walks that begin, for cores
    that a directory names."""
    return counters[COUNT.parked] + 2 * counters[COUNT.under_way] + cores + 16


@kernel
def has_room(run: Run) -> bool:
    """Return whether the next event, or the next row, finds space for all that it brings about."""
    state, counters = run.state, run.state.counters
    most = most_events(run.rules.cores) + counters[COUNT.parked] * run.rules.keeps_answers
    if state.event_queue.counters[at.USED] + counters[COUNT.under_way] + most > state.event_queue.link.size:
        return False
    if (counters[COUNT.parked] + 2) * PARKED > state.parking.size:
        return False
    if not run.rules.keeps_answers:
        return True
    answers = counters[COUNT.answered] + most_answers(run.rules.cores, counters)
    return bool(answers * REPLY_SIZE <= state.answers.size)
