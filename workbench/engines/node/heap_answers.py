"""What follows when a call of malloc is answered."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.blocks import plan_late_free
from workbench.engines.node.chunks import plan_chunk
from workbench.engines.node.groups import answered
from workbench.engines.node.mallocs import ANSWERED, call_member, call_owner, heap_of_call, plan_answer
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.past import enter_lock_wait
from workbench.engines.node.state import CALL, COUNT, GROUP, NONE, WAIT, Run
from workbench.engines.node.times import ACQUIRED, HELD, end_of_call


@noinline
def told_by_heap(run: Run, part: int, rows: int) -> None:
    """Plan the answers of the requests that a heap has served, and ask for the chunks that others need first."""
    ports, rules = run.ports, run.rules
    application = (part - 2 * rules.cards) % rules.applications
    for at in range(rows):
        request = call(ports.answer_of[part], ports.lent[part], (at, 0))
        cycle = call(ports.answer_of[part], ports.lent[part], (at, 1))
        needs = call(ports.answer_of[part], ports.lent[part], (at, 2))
        number = run.calls.of_request[run.calls.first_of[application] + request]
        if needs > 0:
            plan_chunk(run, part, request, needs, number)
            continue
        _tell_section(run, part, number, request, cycle)
        run.state.call[number, CALL.left] -= 1
        if run.state.call[number, CALL.left] == 0:
            plan_answer(run, number, cycle + rules.heap_answer_cycles)
    call(ports.forget_answers[part], ports.lent[part], ())


@noinline
def _tell_section(run: Run, part: int, number: int, request: int, answered_at: int) -> None:
    """Keep when a request that was served entered the section of its heap, and for how long it waited for a chunk."""
    if run.rules.events == 0:
        return
    routine, lent, card = run.ports.time_of[part], run.ports.lent[part], run.state.call[number, CALL.card]
    acquired, chunk = call(routine, lent, (request, ACQUIRED)), call(routine, lent, (request, HELD))
    first, second = call_owner(run, number), call_member(run, number)
    tell(run, KIND.section, card, first, second, request, acquired, chunk, answered_at)


@noinline
def answer_call(run: Run, number: int) -> None:
    """Let a call be answered: its task goes on if it waits for it; after the group's end what it got goes back."""
    row = run.state.call[number]
    nulls = _nulls(run, number)
    row[CALL.status], row[CALL.nulls] = ANSWERED, nulls
    run.state.counters[COUNT.nulls] += nulls
    tell(run, KIND.malloc_answer, row[CALL.card], call_owner(run, number), call_member(run, number), nulls)
    if run.rules.malloc == WAIT:
        end_of_call(run, number)
        enter_lock_wait(run, number, heap_of_call(run, number))
        answered(run, row[CALL.task], True)
    elif run.state.group[_group_of(run, number), GROUP.ended] != NONE:
        plan_late_free(run, number)


@noinline
def _group_of(run: Run, number: int) -> int:
    plan, calls = run.plan, run.calls
    return plan.first_group[plan.of_kernel[calls.phase[number]]] + calls.group[number]


@noinline
def _nulls(run: Run, number: int) -> int:
    """Return how many requests of a call got nothing."""
    ports, part, first = run.ports, heap_of_call(run, number), run.calls.first_request[number]
    count = 0
    for request in range(first, first + run.calls.requests[number]):
        count += 1 - call(ports.was_served[part], ports.lent[part], (request,))
    return count
