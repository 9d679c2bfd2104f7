"""The life of a group from its dispatch to its end, and where its time goes (spec 6, R7, R12, R18, N1, N9).

Phase after phase it computes, touches and allocates. A task is a group, or a sub-group of one that was split. Under
`touches_hold: none` its phases follow each other as they are computed, its resources go back with the last, and the
group ends with the last answer.

The parts of its time sum exactly, along its critical path (N54 to N56): a task keeps what its path has come to. Of what
holds a phase, the answer that comes last is on the path, the least by K of several; of touches that hold nothing only
one that is answered at the very end is, with the path up to the end of its own compute.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit import numbered
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.heaps import call_member, free_blocks, heap_of_call, plan_calls
from workbench.engines.node.plan import ABSENT, member
from workbench.engines.node.schedule import (
    WHAT,
    check_answer,
    kernel_words,
    look_again,
    part_of_dispatch,
    part_of_translation,
    plan_event,
    present,
    step_words,
    task_words,
)
from workbench.engines.node.state import (
    ACCESS,
    APPLICATION,
    CALL,
    COUNT,
    FAULT,
    GROUP,
    HOLD_GROUP,
    KERNEL,
    NONE,
    TASK,
    WAIT,
    Run,
)
from workbench.engines.node.streams import end_refused, leave_tensors
from workbench.engines.node.telemetry import KIND, enter_instructions, enter_stall, note_module, tell
from workbench.engines.node.touches import access_second, first_touch, give_access, touches_of_task


@noinline
def take_task(run: Run) -> int:
    """Take a free row of the tasks; -1, and the run stops, where there is none."""
    state = run.state
    task = state.counters[COUNT.free_task]
    if task == NONE:
        fail(state.counters, FAULT.tasks_full, present(run), NONE, NONE)
        return NONE
    state.counters[COUNT.free_task] = state.task[task, TASK.next]
    return task


@noinline
def begin_task(run: Run, card: int, group: int, dispatch: int, module: int, wave: int, waves: int) -> None:
    """Let a group, or a sub-group, that was dispatched begin its first phase."""
    task = take_task(run)
    if task == NONE:
        return
    row, kernel, now = run.state.task[task], run.plan.kernel_of[group], present(run)
    for field in range(len(TASK)):
        row[field] = 0
    row[TASK.kernel], row[TASK.group], row[TASK.wave], row[TASK.card] = kernel, group, wave, card
    row[TASK.module], row[TASK.dispatch], row[TASK.waves] = module, dispatch, waves
    begin_path(run, task)
    words = kernel_words(run, kernel, card)
    tell(run, KIND.dispatch, card, words, task_words(run, task, ABSENT, ABSENT), module, waves)
    note_module(run, card, module)
    if run.state.group[group, GROUP.began] == NONE:
        run.state.group[group, GROUP.began] = now
    begin_phase(run, task, run.plan.first_phase[kernel])


@noinline
def begin_phase(run: Run, task: int, phase: int) -> None:
    """Let a task compute."""
    row, plan = run.state.task[task], run.plan
    kernel = row[TASK.kernel]
    row[TASK.phase] = phase
    lasts = plan.cycles[plan.first_cycles[phase] + row[TASK.group] - plan.first_group[kernel]]
    enter_instructions(run, task, phase, lasts)
    first = kernel_words(run, kernel, row[TASK.card])
    second = task_words(run, task, phase, ABSENT)
    plan_event(run, present(run) + lasts, RANK.ends_of_compute, first, second, WHAT.compute_end, task)


@noinline
def end_compute(run: Run, task: int) -> None:
    """Let a task whose compute is over touch and allocate."""
    row, rules = run.state.task[task], run.rules
    phase, touches = row[TASK.phase], touches_of_task(run, task, row[TASK.phase])
    calls = plan_calls(run, task, phase)
    row[TASK.computed] = present(run)
    kernel = row[TASK.kernel]
    end_of_compute(
        run, task, run.plan.cycles[run.plan.first_cycles[phase] + row[TASK.group] - run.plan.first_group[kernel]]
    )
    held_by_touches = touches if rules.touches_hold == HOLD_GROUP else 0
    held_by_calls = calls if rules.malloc == WAIT else 0
    row[TASK.open] += touches + held_by_calls
    row[TASK.waited], row[TASK.touches] = held_by_touches + held_by_calls, held_by_touches
    if touches > 0:
        first_touch(run, task, phase)
    if row[TASK.waited] == 0:
        end_phase(run, task)


@noinline
def end_phase(run: Run, task: int) -> None:
    """Let a task go on to its next phase, or give its resources back after the last."""
    row, plan = run.state.task[task], run.plan
    end_of_phase(run, task)
    kernel = row[TASK.kernel]
    if row[TASK.phase] + 1 < plan.first_phase[kernel + 1]:
        begin_phase(run, task, row[TASK.phase] + 1)
        return
    row[TASK.done] = 1
    first, second = kernel_words(run, kernel, row[TASK.card]), task_words(run, task, ABSENT, ABSENT)
    plan_event(run, present(run), RANK.releases, first, second, WHAT.release, task)
    end_if_over(run, task)


@noinline
def answered(run: Run, task: int, held: bool) -> None:
    """Count an answer for which the end of a task's group waits, and, where it held the task, the end of its phase."""
    row = run.state.task[task]
    row[TASK.open] -= 1
    if held:
        row[TASK.waited] -= 1
        if row[TASK.waited] == 0:
            end_phase(run, task)
            return
    end_if_over(run, task)


@noinline
def end_if_over(run: Run, task: int) -> None:
    """End a task that computes no more and waits for nothing, and its group with its last part."""
    row = run.state.task[task]
    if row[TASK.done] == 0 or row[TASK.open] > 0:
        return
    group = run.state.group[row[TASK.group]]
    group[GROUP.parts] -= 1
    row[TASK.over] = 1
    end_of_task(run, task)
    if group[GROUP.parts] == 0:
        end_group(run, row[TASK.group], row[TASK.card])
    if row[TASK.released] == 1:
        give_task(run, task)


@noinline
def release_task(run: Run, task: int) -> None:
    """Let a task give back what it holds of its module."""
    row, ports = run.state.task[task], run.ports
    card = row[TASK.card]
    part = part_of_dispatch(run, card)
    if not check_answer(run, part, call(ports.ask_end[part], ports.lent[part], (row[TASK.dispatch], present(run)))):
        return
    if not check_answer(run, part, call(ports.take_next[part], ports.lent[part], ())):
        return
    call(ports.forget_answers[part], ports.lent[part], ())
    second = task_words(run, task, ABSENT, ABSENT)
    tell(run, KIND.release, card, kernel_words(run, row[TASK.kernel], card), second, row[TASK.module])
    note_module(run, card, row[TASK.module])
    look_again(run, part)
    row[TASK.released] = 1
    if row[TASK.over]:
        give_task(run, task)


@noinline
def give_task(run: Run, task: int) -> None:
    """Give a row of the tasks back."""
    run.state.task[task, TASK.next] = run.state.counters[COUNT.free_task]
    run.state.counters[COUNT.free_task] = task


@noinline
def end_group(run: Run, group: int, card: int) -> None:
    """End a group: what it allocated is given up, and with the last of a kernel the kernel's step ends."""
    state, kernel = run.state, run.plan.kernel_of[group]
    state.group[group, GROUP.ended] = present(run)
    state.counters[COUNT.groups_ended] += 1
    tell_group(run, KIND.group_end, group, card)
    free_blocks(run, group, card)
    leave_kernel(run, kernel)


@noinline
def cancel_part(run: Run, card: int, group: int, wave: int) -> None:
    """Let a group, or a sub-group, that waited be cancelled; a group of which a part has run ends with its last."""
    row, kernel = run.state.group[group], run.plan.kernel_of[group]
    second = member(group - run.plan.first_group[kernel], wave, ABSENT, ABSENT)
    tell(run, KIND.cancel, card, kernel_words(run, kernel, card), second)
    row[GROUP.parts] -= 1
    row[GROUP.cancelled] = 1
    if row[GROUP.parts] == 0:
        run.state.counters[COUNT.groups_cancelled] += 1
        _leave_application(run, kernel)


@noinline
def leave_kernel(run: Run, kernel: int) -> None:
    """Count a group of a kernel that has ended; with the last one its step ends, unless some were cancelled."""
    run.state.kernel[kernel, KERNEL.left] -= 1
    if run.state.kernel[kernel, KERNEL.left] == 0:
        leave_tensors(run, kernel)
        step = run.plan.step_of[kernel]
        plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)
    _leave_application(run, kernel)


@noinline
def _leave_application(run: Run, kernel: int) -> None:
    """Count a group of a kernel's application that is no more; a refused one ends with its last."""
    application = run.plan.application_of[run.plan.stream_of[run.plan.step_of[kernel]]]
    run.state.application[application, APPLICATION.live] -= 1
    end_refused(run, application)


@noinline
def tell_group(run: Run, kind: int, group: int, card: int) -> None:
    """Keep a message of a whole group."""
    kernel = run.plan.kernel_of[group]
    second = group_words(run, group)
    tell(run, kind, card, kernel_words(run, kernel, card), second)


@noinline
def group_words(run: Run, group: int) -> int:
    """Return the second word of K of a whole group."""
    return (group - run.plan.first_group[run.plan.kernel_of[group]] + 1) << 35


@noinline
def end_touch(run: Run, access: int) -> None:
    """Let a touch be over whose data are there."""
    task = run.state.access[access, ACCESS.task]
    end_of_touch(run, access)
    give_access(run, access)
    if run.rules.touches_hold == HOLD_GROUP:
        run.state.task[task, TASK.touches] -= 1
        if run.state.task[task, TASK.touches] == 0:
            enter_stall(run, task)
    answered(run, task, run.rules.touches_hold == HOLD_GROUP)


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
    walkers = _within(row[ACCESS.queued], row[ACCESS.begun], row[ACCESS.issued], answered)
    by_link = _within(row[ACCESS.read], row[ACCESS.walked], row[ACCESS.issued], answered)
    data = now - answered
    path[first + TIME.walkers] += walkers
    path[first + TIME.link] += by_link + (data if row[ACCESS.remote] else 0)
    rest = answered - row[ACCESS.issued] - walkers - by_link
    path[first + TIME.translation] += rest + (0 if row[ACCESS.remote] else data)


@noinline
def _within(begin: int, end: int, first: int, last: int) -> int:
    """Return how much of a span of cycles lies within another."""
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
    computed, called = run.state.task[row[CALL.task], TASK.computed], row[CALL.asked]
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
