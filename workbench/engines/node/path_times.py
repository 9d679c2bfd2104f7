"""Where a group's time goes, along its critical path: compute, calls and touches (spec 6, R18, N1, N9).

The parts of its time sum exactly (N54 to N56): a task keeps what its path has come to. If a phase waits for several
answers, the last is on the path; of equal ones, the least by K. A touch that nothing waits for is on the path only if
it is answered at the very end. The path up to the end of its own compute then precedes it.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit import numbered
from workbench.engines.node.heaps import call_member, heap_of_call
from workbench.engines.node.schedule import part_of_translation, present
from workbench.engines.node.state import ACCESS, CALL, GROUP, HOLD_GROUP, KERNEL, TASK, Run
from workbench.engines.node.touches import access_second


class PartFields(NamedTuple):
    """The parts of a group's time."""

    memory: int
    channel: int
    compute: int
    issue: int
    walkers: int
    translation: int
    link: int
    malloc_lock: int
    malloc_service: int
    heap_chunk: int
    shoot_down: int


TIME = numbered(PartFields)
PARTS = 11
ENTERED, ACQUIRED, HELD = range(3)
SO_FAR, HOLDS, LAST = 0, PARTS, 2 * PARTS
"""In a row of `State.path`: the parts so far; those of the answer that came last of a phase, and of those that hold
nothing, with the path before them."""
HOLDS_AT, HOLDS_BY, LAST_AT, LAST_BY = 3 * PARTS, 3 * PARTS + 1, 3 * PARTS + 2, 3 * PARTS + 3
"""When these came, and the second words of K of whose they are."""


@noinline
def begin_path(run: Run, task: int) -> None:
    """Begin the path of a task that was dispatched: its kernel waited for memory, it waited in its channel."""
    path, row = run.state.path[task], run.state.kernel[run.state.task[task, TASK.kernel]]
    for field in range(path.size):
        path[field] = 0
    path[HOLDS_AT] = path[LAST_AT] = -1
    path[TIME.memory], path[TIME.channel] = row[KERNEL.put] - row[KERNEL.since], present(run) - row[KERNEL.put]


@noinline
def end_of_compute(run: Run, task: int, cycles: int) -> None:
    """Note that a task has computed."""
    path, row, part = (
        run.state.path[task],
        run.state.task[task],
        part_of_translation(run, run.state.task[task, TASK.card]),
    )
    path[TIME.compute] += cycles
    # No answer has held this phase yet.
    path[HOLDS_AT] = -1
    stalled = call(run.ports.stalled[part], run.ports.lent[part], (row[TASK.module], present(run)))
    row[TASK.stalled] = stalled


@noinline
def note_issue(run: Run, access: int) -> None:
    """Note that a touch is issued, and for how long its module was stalled since the end of compute."""
    row = run.state.access[access]
    of_task = run.state.task[row[ACCESS.task]]
    part = part_of_translation(run, of_task[TASK.card])
    row[ACCESS.issued] = present(run)
    stalled = call(run.ports.stalled[part], run.ports.lent[part], (of_task[TASK.module], present(run)))
    row[ACCESS.stalled] = stalled - row[ACCESS.stalled]


@noinline
def end_of_touch(run: Run, access: int) -> None:
    """Let a touch whose data are there be on the path, if nothing that came was later."""
    row = run.state.access[access]
    path, second, now = run.state.path[row[ACCESS.task]], access_second(run, access), present(run)
    holds = run.rules.touches_hold == HOLD_GROUP
    at = HOLDS_AT if holds else LAST_AT
    # Behind `HOLDS_AT` lies `HOLDS_BY`, behind `LAST_AT` `LAST_BY`.
    if now < path[at] or (now == path[at] and second >= path[at + 1]):
        return
    path[at], path[at + 1] = now, second
    first = HOLDS if holds else LAST
    for field in range(PARTS):
        path[first + field] = 0
    if not holds:
        path[first + TIME.memory], path[first + TIME.channel] = path[TIME.memory], path[TIME.channel]
        path[first + TIME.compute], path[first + TIME.malloc_lock] = row[ACCESS.compute], row[ACCESS.lock]
        path[first + TIME.malloc_service], path[first + TIME.heap_chunk] = row[ACCESS.service], row[ACCESS.chunk]
        path[first + TIME.shoot_down] = row[ACCESS.shot]
    waited, answered = row[ACCESS.issued] - row[ACCESS.computed], row[ACCESS.answered]
    path[first + TIME.shoot_down] += row[ACCESS.stalled]
    path[first + TIME.issue] += waited - row[ACCESS.stalled]
    # A touch may join a walk that is under way: only what comes after its own issue is its wait.
    walkers = _within(row[ACCESS.queued], row[ACCESS.begun], row[ACCESS.issued], answered)
    by_link = _within(row[ACCESS.read], row[ACCESS.walked], row[ACCESS.issued], answered)
    data = now - answered
    path[first + TIME.walkers] += walkers
    path[first + TIME.link] += by_link + (data if row[ACCESS.remote] else 0)
    rest = answered - row[ACCESS.issued] - walkers - by_link
    path[first + TIME.translation] += rest + (0 if row[ACCESS.remote] else data)


@noinline
def _within(begin: int, end: int, first: int, last: int) -> int:
    """Return the cycles of a span that lie within another."""
    return max(min(end, last) - max(begin, first), 0)


@noinline
def end_of_call(run: Run, number: int) -> None:
    """Let a call of malloc that is waited for be on the path, if nothing that came was later (N55)."""
    row, ports, part = run.state.call[number], run.ports, heap_of_call(run, number)
    path, second, now = run.state.path[row[CALL.task]], call_member(run, number), present(run)
    if now < path[HOLDS_AT] or (now == path[HOLDS_AT] and second >= path[HOLDS_BY]):
        return
    path[HOLDS_AT], path[HOLDS_BY] = now, second
    for field in range(PARTS):
        path[HOLDS + field] = 0
    computed, called = run.state.task[row[CALL.task], TASK.computed], row[CALL.since]
    path[HOLDS + TIME.shoot_down] = called - computed
    if run.calls.requests[number] == 0:
        path[HOLDS + TIME.malloc_service] = now - called
        return
    request = run.calls.first_request[number] + run.calls.requests[number] - 1
    lent = ports.lent[part]
    lock = call(ports.time_of[part], lent, (request, ACQUIRED)) - call(ports.time_of[part], lent, (request, ENTERED))
    chunk = call(ports.time_of[part], lent, (request, HELD))
    path[HOLDS + TIME.malloc_lock], path[HOLDS + TIME.heap_chunk] = lock, chunk
    path[HOLDS + TIME.malloc_service] = now - called - lock - chunk


@noinline
def end_of_phase(run: Run, task: int) -> None:
    """Add what held the end of a phase."""
    path = run.state.path[task]
    if path[HOLDS_AT] >= 0:
        for field in range(PARTS):
            path[field] += path[HOLDS + field]


@noinline
def end_of_task(run: Run, task: int) -> None:
    """Keep the path of a task that has ended as its group's, if no part of it has ended later."""
    path, row, now = run.state.path[task], run.state.task[task], present(run)
    group = run.state.group[row[TASK.group]]
    if group[GROUP.path_at] == now and row[TASK.wave] >= group[GROUP.path_by]:
        return
    group[GROUP.path_at], group[GROUP.path_by] = now, row[TASK.wave]
    first = LAST if path[LAST_AT] == now else SO_FAR
    for field in range(PARTS):
        run.state.times[row[TASK.group], field] = path[first + field]
