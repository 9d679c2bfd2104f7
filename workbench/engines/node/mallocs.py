"""Calls of malloc: each wave of a task asks its heap at the end of a phase's compute (spec 6, R7, R14, N50 to N53)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.order import RANK
from workbench.engines.node.keys import ABSENT, member
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.planning import (
    WHAT,
    check_answer,
    kernel_words,
    look_again,
    part_of_heap,
    plan_event,
    present,
)
from workbench.engines.node.state import CALL, COUNT, NONE, TASK, Run

NOT_ASKED, UNDER_WAY, ANSWERED, GIVEN_UP = range(4)


@noinline
def plan_calls(run: Run, task: int, phase: int) -> int:
    """Let the waves of a task call malloc, if the phase has mallocs; return how many calls there are."""
    plan, row = run.plan, run.state.task[task]
    if plan.first_malloc[phase] == plan.first_malloc[phase + 1]:
        return 0
    kernel = row[TASK.kernel]
    wave, count = row[TASK.wave], 1
    if wave == NONE:
        wave, count = 0, plan.waves[kernel]
    first = plan.first_call[phase] + (row[TASK.group] - plan.first_group[kernel]) * plan.waves[kernel] + wave
    for number in range(first, first + count):
        of_call = run.state.call[number]
        of_call[CALL.task], of_call[CALL.card], of_call[CALL.module] = task, row[TASK.card], row[TASK.module]
        _plan_call(run, number, present(run))
    return count


@noinline
def _plan_call(run: Run, number: int, cycle: int) -> None:
    """Let a call be made at a cycle."""
    first, second = call_owner(run, number), call_member(run, number)
    plan_event(run, cycle, RANK.malloc_requests, first, second, WHAT.malloc, number)


@noinline
def _stalled_until(run: Run, number: int) -> int:
    """Return the cycle at which the module of a call may issue it (N37)."""
    row = run.state.call[number]
    return run.state.stalled_until[row[CALL.card] * run.rules.modules + row[CALL.module]]


@noinline
def call_owner(run: Run, number: int) -> int:
    """Return the first word of K of a call."""
    return kernel_words(run, run.plan.of_kernel[run.calls.phase[number]], run.state.call[number, CALL.card])


@noinline
def call_member(run: Run, number: int) -> int:
    """Return the second word of K of a call."""
    calls, plan = run.calls, run.plan
    phase = calls.phase[number]
    of_kernel = phase - plan.first_phase[plan.of_kernel[phase]]
    return member(calls.group[number], calls.wave[number], of_kernel, ABSENT)


@noinline
def heap_of_call(run: Run, number: int) -> int:
    """Return the part that serves a call."""
    return part_of_heap(run, run.state.call[number, CALL.card], run.calls.application[number])


@noinline
def make_call(run: Run, number: int) -> None:
    """Make a call, or wait where its module is stalled: its requests come to the line in the order of the lanes."""
    ports, row, part = run.ports, run.state.call[number], heap_of_call(run, number)
    first, until = run.calls.first_request[number], _stalled_until(run, number)
    if until > present(run):
        _plan_call(run, number, until)
        return
    tell(run, KIND.call, row[CALL.card], call_owner(run, number), call_member(run, number), number)
    row[CALL.status], row[CALL.left], row[CALL.asked] = UNDER_WAY, run.calls.requests[number], present(run)
    run.state.counters[COUNT.calls] += 1
    for request in range(first, first + run.calls.requests[number]):
        if not check_answer(run, part, call(ports.ask_request[part], ports.lent[part], (request, present(run)))):
            return
    if row[CALL.left] == 0:
        plan_answer(run, number, present(run))
    look_again(run, part)


@noinline
def plan_answer(run: Run, number: int, cycle: int) -> None:
    """Let a call be answered at a cycle."""
    first, second = call_owner(run, number), call_member(run, number)
    plan_event(run, cycle, RANK.malloc_answers, first, second, WHAT.malloc_answer, number)
