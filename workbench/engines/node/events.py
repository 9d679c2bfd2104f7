"""What the parts of a node tell, and what follows: dispatchers, translations, heaps, the pool (spec 6).

Groups begin, are split, or leave their channels. What was issued is followed by the next touch, answers by their data.
Calls of malloc are answered. Memory is granted, and an application to which it was refused ends: its queued groups are
cancelled, those under way end (R9, E2, N13 to N19).
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.channels import CANCELLED, DISPATCH, FIELDS, MODULE, SPLIT, VERDICT, WAVE, WAVES
from workbench.engines.dispatch.channels import GRANTED as WAS_GRANTED
from workbench.engines.dispatch.channels import KIND as ROW_KIND
from workbench.engines.dispatch.channels import TICKET as ROW_TICKET
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.directory import unmap
from workbench.engines.node.groups import answered, begin_task, cancel_part
from workbench.engines.node.heaps import (
    ANSWERED,
    answer_heap,
    call_member,
    call_owner,
    chunk_granted,
    heap_of_call,
    plan_answer,
    plan_chunk,
    plan_late_free,
)
from workbench.engines.node.messages import copy, fetch, read_walk
from workbench.engines.node.pages import map_run, open_mapping
from workbench.engines.node.path_times import ACQUIRED, HELD, end_of_call, note_issue
from workbench.engines.node.plan import ABSENT, LAUNCHES, member
from workbench.engines.node.pool_jobs import COPY, GRANTED, MOVED, OF, REFUSED_, RELEASED_
from workbench.engines.node.schedule import (
    WHAT,
    application_words,
    check_answer,
    kernel_words,
    look_again,
    part_of_dispatch,
    plan_event,
    present,
)
from workbench.engines.node.state import (
    ACCESS,
    APPLICATION,
    AT_ONCE,
    CALL,
    COUNT,
    FAULT,
    FREED,
    GROUP,
    KERNEL,
    NEEDS_ROOM,
    NONE,
    REFUSED,
    TASK,
    TENSOR,
    TICKET,
    WAIT,
    Run,
)
from workbench.engines.node.streams import IN_POOL, NOT_IN_POOL, end_refused, grant, plan_late_release, released
from workbench.engines.node.telemetry import KIND, enter_lock_wait, tell, tell_detail
from workbench.engines.node.touches import access_first, access_second, next_touch
from workbench.engines.translation.answers import SAYS
from workbench.engines.translation.state import REPLY
from workbench.records.translation import SERVED_BY


@noinline
def handle_dispatch(run: Run, part: int, rows: int) -> None:
    """Let groups that were dispatched begin."""
    ports, state = run.ports, run.state
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, group = call(routine, lent, (at, ROW_KIND)), call(routine, lent, (at, ROW_TICKET))
        wave, waves = call(routine, lent, (at, WAVE)), call(routine, lent, (at, WAVES))
        if kind == SPLIT:
            # Of a split, `waves` is the number of sub-groups; the entry that was split is one part less.
            state.group[group, GROUP.parts] += waves - 1
        elif kind == VERDICT:
            _tell_held(run, part, at, group, wave)
        elif kind == CANCELLED:
            cancel_part(run, part, group, wave)
        elif kind == WAS_GRANTED:
            module, dispatch = call(routine, lent, (at, MODULE)), call(routine, lent, (at, DISPATCH))
            begin_task(run, part, group, dispatch, module, wave, waves)
    call(ports.forget_answers[part], lent, ())


@noinline
def _tell_held(run: Run, card: int, at: int, group: int, wave: int) -> None:
    """Keep what a verdict was told: how many pages of a group each module holds."""
    ports, kernel, first = run.ports, run.plan.kernel_of[group], run.state.counters[COUNT.details]
    for module in range(run.rules.modules):
        tell_detail(run, call(ports.answer_of[card], ports.lent[card], (at, FIELDS + module)))
    second = member(group - run.plan.first_group[kernel], wave, ABSENT, ABSENT)
    tell(run, KIND.held, card, kernel_words(run, kernel, card), second, first, run.rules.modules)


WALK = SERVED_BY.index("walk")


@noinline
def handle_translation(run: Run, part: int, rows: int) -> None:
    """Let what was issued be followed by the next touch, walks that are read by their bytes, answers by their data."""
    ports, card = run.ports, part - run.rules.cards
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, access = call(routine, lent, (at, REPLY.kind)), call(routine, lent, (at, REPLY.ticket))
        if kind == SAYS.issued:
            next_touch(run, access)
            note_issue(run, access)
        elif kind == SAYS.walk_read:
            read_walk(run, card, access, call(routine, lent, (at, REPLY.what)))
        elif kind == SAYS.answered:
            row = run.state.access[access]
            row[ACCESS.queued] = call(routine, lent, (at, REPLY.queued))
            row[ACCESS.begun] = call(routine, lent, (at, REPLY.begun))
            row[ACCESS.read] = call(routine, lent, (at, REPLY.read))
            row[ACCESS.walked] = call(routine, lent, (at, REPLY.ended))
            _answer(run, card, access, call(routine, lent, (at, REPLY.what)))
    call(ports.forget_answers[part], lent, ())


@noinline
def _answer(run: Run, card: int, access: int, served: int) -> None:
    """Let the data of a page come whose translation was answered."""
    row = run.state.access[access]
    row[ACCESS.answered] = present(run)
    run.state.served[served] += 1
    if run.rules.events:
        _tell_answer(run, card, access, served)
    fetch(run, access)


@noinline
def _tell_answer(run: Run, card: int, access: int, served: int) -> None:
    """Keep an answer in the log."""
    row, first, second = run.state.access[access], access_first(run, access), access_second(run, access)
    if served == WALK:
        walk = row[ACCESS.begun], row[ACCESS.read], row[ACCESS.walked]
        tell(run, KIND.walk_times, card, first, second, row[ACCESS.tag], walk[0], walk[1], walk[2])
    module, latency = run.state.task[row[ACCESS.task], TASK.module], present(run) - row[ACCESS.entered]
    tell(run, KIND.answer, card, first, second, module, row[ACCESS.tag], served, latency)


@noinline
def handle_heap(run: Run, part: int, rows: int) -> None:
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
    """Return the number of requests of a call that got nothing."""
    ports, part, first = run.ports, heap_of_call(run, number), run.calls.first_request[number]
    count = 0
    for request in range(first, first + run.calls.requests[number]):
        count += 1 - call(ports.was_served[part], ports.lent[part], (request,))
    return count


START, LENGTH = range(2)


@noinline
def handle_pool(run: Run, part: int, rows: int) -> None:
    """Read the answers of the pool."""
    ports = run.ports
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, ticket = call(routine, lent, (at, OF.kind)), call(routine, lent, (at, OF.ticket))
        if kind == GRANTED:
            _granted(run, part, at, ticket)
        elif kind == REFUSED_:
            _refused(run, ticket)
        elif kind == RELEASED_ and ticket < run.plan.size.size:
            released(run, ticket)
        elif kind == MOVED:
            _moved(run, ticket, call(routine, lent, (at, OF.card)))
        elif kind == COPY:
            source, size = call(routine, lent, (at, OF.other)), call(routine, lent, (at, OF.bytes))
            copy(run, ticket, source, call(routine, lent, (at, OF.card)), size)
    call(ports.forget_answers[part], lent, ())


@noinline
def _granted(run: Run, part: int, at: int, tensor: int) -> None:
    """Map a tensor that was granted; of an application that has ended it goes back at once."""
    if tensor >= run.plan.size.size:
        if _map(run, part, at, tensor, run.calls.application[run.state.ticket[tensor, TICKET.call]]):
            chunk_granted(run, tensor)
        return
    row, application = run.state.tensor[tensor], run.plan.owner_of[tensor]
    row[TENSOR.pool] = IN_POOL
    ended = run.state.application[application, APPLICATION.ended] == 1
    if row[TENSOR.status] == FREED or (run.rules.memory != AT_ONCE and ended):
        row[TENSOR.status], row[TENSOR.left] = FREED, max(row[TENSOR.left], int(ended))
        plan_late_release(run, tensor)
    elif run.rules.memory != AT_ONCE and _map(run, part, at, tensor, application):
        grant(run, tensor, call(run.ports.answer_of[part], run.ports.lent[part], (at, OF.card)))


@noinline
def _map(run: Run, part: int, at: int, ticket: int, application: int) -> bool:
    """Map the runs of frames of a tensor or a chunk; return whether there was space."""
    ports = run.ports
    lent = ports.lent[part]
    runs = call(ports.answer_of[part], lent, (at, OF.runs))
    open_mapping(run.pages, ticket, application, run.state.ticket[ticket, TICKET.bytes])
    for number in range(runs):
        start = call(ports.run_of[part], lent, (at, number, START))
        length = call(ports.run_of[part], lent, (at, number, LENGTH))
        if map_run(run.pages, ticket, start, length) == NEEDS_ROOM:
            fail(run.state.counters, FAULT.pages_full, present(run), ticket, NONE)
            return False
    return True


@noinline
def _moved(run: Run, ticket: int, card: int) -> None:
    """Let a region that was brought to another card lie there: its pages keep their tags (N38)."""
    row, tensors = run.state.ticket[ticket], run.plan.size.size
    if ticket < tensors:
        run.state.tensor[ticket, TENSOR.card] = card
        near = run.plan.home[run.plan.owner_of[ticket]]
    else:
        near = run.state.call[row[TICKET.call], CALL.card]
    if run.pages.count[ticket] > 0:
        unmap(run, ticket, near, row[TICKET.first], row[TICKET.second])
        plan_event(run, present(run), RANK.shoot_downs, row[TICKET.first], row[TICKET.second], WHAT.shoot, ticket)


@noinline
def _refused(run: Run, tensor: int) -> None:
    """End the application whose tensor was refused, where memory is waited for."""
    if tensor >= run.plan.size.size:
        answer_heap(run, tensor, 0)
        return
    run.state.tensor[tensor, TENSOR.pool] = NOT_IN_POOL
    if run.rules.memory != AT_ONCE:
        run.state.tensor[tensor, TENSOR.status] = REFUSED
        refuse_application(run, run.plan.owner_of[tensor])


@noinline
def refuse_application(run: Run, application: int) -> None:
    """Let an application begin no further step, and its groups that wait leave their channels; one that has ended
    before the answer to its last request counts as refused too."""
    plan, row = run.plan, run.state.application[application]
    if row[APPLICATION.refused]:
        return
    row[APPLICATION.refused] = 1
    tell(run, KIND.refused, plan.home[application], application_words(run, application), 0)
    first, end = plan.first_stream[application], plan.first_stream[application + 1]
    steps = range(plan.first_step[first], plan.first_step[end])
    for step in steps:
        if plan.kind[step] == LAUNCHES:
            _put_no_more(run, plan.what[step])
    # Card by card: cancellations come in the order of K, whose first field is the card (E2).
    for card in range(run.rules.cards):
        for step in steps:
            if plan.kind[step] == LAUNCHES:
                _cancel(run, plan.what[step], card)
    end_refused(run, application)


@noinline
def _put_no_more(run: Run, kernel: int) -> None:
    """Count a kernel that was not put forward, and so never will be."""
    row = run.state.kernel[kernel]
    row[KERNEL.waits] = 0
    if row[KERNEL.put] == NONE:
        run.state.counters[COUNT.kernels_refused] += 1
        run.state.counters[COUNT.groups_refused] += run.plan.groups[kernel]


@noinline
def _cancel(run: Run, kernel: int, card: int) -> None:
    """Let the groups of a kernel that wait leave their channel, if it was put forward to this card."""
    row, ports = run.state.kernel[kernel], run.ports
    if row[KERNEL.left] == 0 or row[KERNEL.card] != card:
        return
    part = part_of_dispatch(run, card)
    first = run.plan.first_group[kernel]
    last = first + run.plan.groups[kernel] - 1
    left = call(ports.ask_cancel_range[part], ports.lent[part], (first, last, present(run)))
    if check_answer(run, part, left) and left > 0:
        handle_dispatch(run, part, left)
    look_again(run, part)
