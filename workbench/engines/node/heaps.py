"""Device heaps: the calls of malloc of waves, what groups give up at their ends, and chunks of the pool.

Each wave of a task asks its heap at the end of a phase's compute; what its group allocated is given up at the group's
end (spec 6, R7, R14, N50 to N53). Chunks are asked of the pool where a section finds no space, mapped, and given back
with their application (E8, N46, N51).
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.directory import unmap
from workbench.engines.node.pages import close_mapping
from workbench.engines.node.plan import ABSENT, member
from workbench.engines.node.schedule import (
    WHAT,
    application_words,
    check_answer,
    kernel_words,
    look_again,
    part_of_heap,
    part_of_pool,
    plan_event,
    present,
)
from workbench.engines.node.state import APPLICATION, AT_ONCE, CALL, COUNT, FAULT, NONE, TASK, TICKET, Run
from workbench.engines.node.telemetry import KIND, tell, tell_of_pool

NOT_ASKED, UNDER_WAY, ANSWERED, GIVEN_UP = range(4)


@noinline
def plan_calls(run: Run, task: int, phase: int) -> int:
    """Let the waves of a task call malloc, if the phase has mallocs; return how many calls there are."""
    plan, row = run.plan, run.state.task[task]
    if plan.first_malloc[phase] == plan.first_malloc[phase + 1]:
        return 0
    kernel = row[TASK.kernel]
    of_group = plan.first_call[phase] + (row[TASK.group] - plan.first_group[kernel]) * plan.waves[kernel]
    first = of_group + max(row[TASK.wave], 0)
    for number in range(first, first + row[TASK.waves]):
        of_call = run.state.call[number]
        of_call[CALL.task], of_call[CALL.card], of_call[CALL.module] = task, row[TASK.card], row[TASK.module]
        _plan_call(run, number, present(run))
    return int(row[TASK.waves])


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
    row[CALL.status], row[CALL.left], row[CALL.since] = UNDER_WAY, run.calls.requests[number], present(run)
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


@noinline
def free_blocks(run: Run, group: int, card: int) -> None:
    """Let what a group allocated be given up at its end; what is not answered yet is when it will be."""
    plan = run.plan
    kernel = plan.kernel_of[group]
    if plan.first_malloc[plan.first_phase[kernel]] == plan.first_malloc[plan.first_phase[kernel + 1]]:
        return
    second = (group - plan.first_group[kernel] + 1) << 35
    plan_event(run, present(run), RANK.frees, kernel_words(run, kernel, card), second, WHAT.blocks, group)


@noinline
def give_up_blocks(run: Run, group: int) -> None:
    """Give up what a group got, call by call."""
    plan = run.plan
    kernel = plan.kernel_of[group]
    local, waves = group - plan.first_group[kernel], plan.waves[kernel]
    for phase in range(plan.first_phase[kernel], plan.first_phase[kernel + 1]):
        if plan.first_malloc[phase] < plan.first_malloc[phase + 1]:
            first = plan.first_call[phase] + local * waves
            for number in range(first, first + waves):
                if run.state.call[number, CALL.status] == ANSWERED:
                    give_up_call(run, number)


@noinline
def give_up_call(run: Run, number: int) -> None:
    """Give up what the lanes of a call got."""
    ports, part, first = run.ports, heap_of_call(run, number), run.calls.first_row[number]
    run.state.call[number, CALL.status] = GIVEN_UP
    for row in range(first, first + run.calls.rows[number]):
        if not check_answer(run, part, call(ports.ask_free[part], ports.lent[part], (row, present(run)))):
            return
    look_again(run, part)


@noinline
def plan_late_free(run: Run, number: int) -> None:
    """Let a call that was answered after its group's end give up what it got at once."""
    first, second = call_owner(run, number), call_member(run, number)
    plan_event(run, present(run), RANK.frees, first, second, WHAT.late_blocks, number)


@noinline
def plan_chunk(run: Run, part: int, request: int, size: int, number: int) -> None:
    """Let a heap ask for a chunk, for a request of a call."""
    counters = run.state.counters
    ticket = run.plan.size.size + counters[COUNT.chunks]
    if ticket == run.state.ticket.shape[0]:
        fail(counters, FAULT.tickets_full, present(run), NONE, NONE)
        return
    counters[COUNT.chunks] += 1
    row = run.state.ticket[ticket]
    row[TICKET.first], row[TICKET.second] = call_owner(run, number), call_member(run, number)
    row[TICKET.bytes], row[TICKET.heap], row[TICKET.request], row[TICKET.call] = size, part, request, number
    plan_event(run, present(run), RANK.pool_requests, row[TICKET.first], row[TICKET.second], WHAT.ask_chunk, ticket)


@noinline
def ask_for_chunk(run: Run, ticket: int) -> None:
    """Ask the pool for a chunk near the card of its heap; where no request waits for chunks the heap has it at once."""
    ports, part, row = run.ports, part_of_pool(run), run.state.ticket[ticket]
    if run.rules.chunks == AT_ONCE:
        answer_heap(run, ticket, row[TICKET.bytes])
        return
    place = run.boards[run.state.call[row[TICKET.call], CALL.card]]
    reply = call(ports.ask_allocate[part], ports.lent[part], (ticket, place, row[TICKET.bytes], present(run)))
    if check_answer(run, part, reply):
        tell_of_pool(run)
        look_again(run, part)


@noinline
def chunk_granted(run: Run, ticket: int) -> None:
    """Let a heap have a chunk that was mapped, behind those that its application has."""
    row = run.state.ticket[ticket]
    application = run.state.application[run.calls.application[row[TICKET.call]]]
    row[TICKET.next] = NONE
    if application[APPLICATION.first_chunk] == NONE:
        application[APPLICATION.first_chunk] = ticket
    else:
        run.state.ticket[application[APPLICATION.last_chunk], TICKET.next] = ticket
    application[APPLICATION.last_chunk] = ticket
    answer_heap(run, ticket, row[TICKET.bytes])


@noinline
def answer_heap(run: Run, ticket: int, size: int) -> None:
    """Tell a heap how many bytes it got, 0 = none."""
    row, ports = run.state.ticket[ticket], run.ports
    part = row[TICKET.heap]
    numbers = (row[TICKET.request], size // run.rules.heap_granule, present(run))
    if check_answer(run, part, call(ports.ask_chunk[part], ports.lent[part], numbers)):
        look_again(run, part)


@noinline
def give_back_chunks(run: Run, application: int) -> None:
    """Give the chunks of an application back, in the order in which they came (N17)."""
    ticket = run.state.application[application, APPLICATION.first_chunk]
    words = application_words(run, application)
    while ticket != NONE:
        plan_event(run, present(run), RANK.frees, words, 0, WHAT.free_chunk, ticket)
        ticket = run.state.ticket[ticket, TICKET.next]


@noinline
def free_chunk(run: Run, ticket: int) -> None:
    """Free a chunk: its pages are unmapped, the pool has it back."""
    row, ports, part = run.state.ticket[ticket], run.ports, part_of_pool(run)
    application = run.calls.application[row[TICKET.call]]
    words = application_words(run, application)
    row[TICKET.free_first], row[TICKET.free_second] = words, 0
    # Before the mapping is closed: the tags of its pages are read from it.
    unmap(run, ticket, run.plan.home[application], words, 0)
    close_mapping(run.pages, ticket)
    plan_event(run, present(run), RANK.shoot_downs, words, 0, WHAT.shoot, ticket)
    check_answer(run, part, call(ports.ask_release[part], ports.lent[part], (ticket, present(run))))
    tell_of_pool(run)
    look_again(run, part)
