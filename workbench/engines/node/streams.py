"""Applications: the steps of their streams, their tensors, and their ends (spec 6, R5, R6, R9, R10, E5, N13 to N21).

A step begins when the one before it has ended. Tensors are asked of the pool, granted, mapped, and given back; kernels
wait until every tensor that they name is granted. An application ends with its last stream, or, once refused, with its
last group; what it has goes back (N17).
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.directory import unmap
from workbench.engines.node.heaps import give_back_chunks
from workbench.engines.node.pages import close_mapping, map_run, open_mapping, page_tag
from workbench.engines.node.plan import ALLOCATES, FREES, LAUNCHES, WAITS
from workbench.engines.node.schedule import (
    WHAT,
    application_words,
    check_answer,
    kernel_words,
    look_again,
    part_of_dispatch,
    part_of_pool,
    plan_event,
    present,
    step_words,
)
from workbench.engines.node.state import (
    APPLICATION,
    ASKED,
    AT_ONCE,
    COUNT,
    FAULT,
    FREED,
    GRANTED,
    GROUP,
    KERNEL,
    NEEDS_ROOM,
    NONE,
    STREAM,
    TENSOR,
    TICKET,
    Run,
)
from workbench.engines.node.telemetry import KIND, tell, tell_detail, tell_of_pool

HOME = 0


@noinline
def begin_application(run: Run, application: int) -> None:
    """Let an application arrive and its streams begin."""
    plan = run.plan
    tell(run, KIND.arrive, plan.home[application], application_words(run, application), 0)
    first, end = plan.first_stream[application], plan.first_stream[application + 1]
    run.state.application[application, APPLICATION.left] = end - first
    for stream in range(first, end):
        run.state.stream[stream, STREAM.step] = plan.first_step[stream]
        begin_step(run, stream)
    # An application without a step has ended already.
    end_if_done(run, application)


@noinline
def begin_step(run: Run, stream: int) -> None:
    """Begin the next step of a stream, if there is one and its application was not refused."""
    plan, state = run.plan, run.state
    step, application = state.stream[stream, STREAM.step], plan.application_of[stream]
    state.stream[stream, STREAM.since] = present(run)
    if state.application[application, APPLICATION.refused]:
        return
    if step == plan.first_step[stream + 1]:
        state.application[application, APPLICATION.left] -= 1
        return
    kind, what = plan.kind[step], plan.what[step]
    if kind == ALLOCATES:
        plan_event(run, present(run), RANK.pool_requests, step_words(run, step), 0, WHAT.ask_pool, step)
    elif kind == FREES:
        state.tensor[what, TENSOR.free_step] = step
        free_if_may(run, what)
    elif kind == LAUNCHES:
        state.kernel[what, KERNEL.waits], state.kernel[what, KERNEL.since] = 1, present(run)
        put_forward_if_ready(run, what)
    elif kind == WAITS:
        _end_wait_if_over(run, stream)


@noinline
def _end_wait_if_over(run: Run, stream: int) -> None:
    """End the wait that is a stream's step, if so many steps have ended."""
    plan, step = run.plan, run.state.stream[stream, STREAM.step]
    if run.state.stream[plan.what[step], STREAM.ended] >= plan.amount[step]:
        plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)


@noinline
def end_step(run: Run, step: int) -> None:
    """End a step, begin the next one of its stream, and let those go on that waited for it."""
    plan, state = run.plan, run.state
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    tell(run, KIND.step, plan.home[application], step_words(run, step), 0)
    state.counters[COUNT.makespan], state.counters[COUNT.steps] = present(run), state.counters[COUNT.steps] + 1
    state.stream[stream, STREAM.ended] += 1
    state.stream[stream, STREAM.step] += 1
    _end_waits(run, stream)
    begin_step(run, stream)
    end_if_done(run, application)


@noinline
def _end_waits(run: Run, ended: int) -> None:
    """End the waits for a stream that are over now."""
    plan, state = run.plan, run.state
    application = plan.application_of[ended]
    for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
        step = state.stream[stream, STREAM.step]
        if stream == ended or step == NONE or step == plan.first_step[stream + 1]:
            continue
        waits = plan.kind[step] == WAITS and plan.what[step] == ended
        # Not `>=`: a wait that was over as it began has its end planned already.
        if waits and state.stream[ended, STREAM.ended] == plan.amount[step]:
            _end_wait_if_over(run, stream)


@noinline
def put_forward(run: Run, kernel: int) -> None:
    """Let the groups of a kernel enter the channel of their application's priority, in order (N20)."""
    plan, state, ports = run.plan, run.state, run.ports
    step, groups = plan.step_of[kernel], plan.groups[kernel]
    application = plan.application_of[plan.stream_of[step]]
    # The refusal may come after this event was planned.
    if state.application[application, APPLICATION.refused]:
        return
    card = card_of(run, kernel)
    tell(run, KIND.put_forward, card, kernel_words(run, kernel, card), 0, groups)
    row = state.kernel[kernel]
    row[KERNEL.put], row[KERNEL.left], row[KERNEL.card] = present(run), groups, card
    state.application[application, APPLICATION.live] += groups
    state.counters[COUNT.put_forward] += groups
    part, words, first = part_of_dispatch(run, card), kernel_words(run, kernel, card), plan.first_group[kernel]
    for group in range(first, first + groups):
        state.group[group, GROUP.parts], state.group[group, GROUP.card] = 1, card
        if not check_answer(run, part, call(ports.ask_group[part], ports.lent[part], (group, present(run)))):
            return
        tell(run, KIND.enter, card, words, (group - first + 1) << 35, plan.priority[application])
    look_again(run, part)


@noinline
def card_of(run: Run, kernel: int) -> int:
    """Return the card that a kernel runs on: its application's, or the one that most of its tensors' pages lie on."""
    plan = run.plan
    home = plan.home[plan.application_of[plan.stream_of[plan.step_of[kernel]]]]
    if run.rules.kernel_card == HOME:
        return home
    best, most = home, 0
    for card in range(run.rules.cards):
        there = _bytes_on(run, kernel, card)
        if there > most:
            best, most = card, there
    return best


@noinline
def _bytes_on(run: Run, kernel: int, card: int) -> int:
    """Return the bytes of a kernel's tensors, in whole pages, that lie on a card."""
    plan, total = run.plan, 0
    for place in range(plan.first_named[kernel], plan.first_named[kernel + 1]):
        tensor = plan.named[place]
        if run.state.tensor[tensor, TENSOR.card] == run.boards[card]:
            total += run.pages.mapped[tensor]
    return total


@noinline
def wake_kernels(run: Run, application: int) -> None:
    """Put the kernels of an application forward that waited for a tensor which is there now."""
    plan, state = run.plan, run.state
    for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
        step = state.stream[stream, STREAM.step]
        if step != NONE and step < plan.first_step[stream + 1] and plan.kind[step] == LAUNCHES:
            put_forward_if_ready(run, plan.what[step])


@noinline
def put_forward_if_ready(run: Run, kernel: int) -> None:
    """Let a kernel that waits be put forward, if every tensor that it names is granted."""
    plan, state = run.plan, run.state
    if state.kernel[kernel, KERNEL.waits] == 0:
        return
    for place in range(plan.first_named[kernel], plan.first_named[kernel + 1]):
        if state.tensor[plan.named[place], TENSOR.status] != GRANTED:
            return
    state.kernel[kernel, KERNEL.waits] = 0
    step = plan.step_of[kernel]
    plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.put_forward, kernel)


@noinline
def end_if_done(run: Run, application: int) -> None:
    """End an application all of whose streams have ended."""
    row = run.state.application[application]
    if row[APPLICATION.left] == 0 and row[APPLICATION.refused] == 0:
        _end(run, application)


@noinline
def end_refused(run: Run, application: int) -> None:
    """End an application that was refused and has no group under way."""
    row = run.state.application[application]
    if row[APPLICATION.refused] == 1 and row[APPLICATION.live] == 0:
        _end(run, application)


@noinline
def _end(run: Run, application: int) -> None:
    """End an application: what it has goes back."""
    row = run.state.application[application]
    if row[APPLICATION.ended]:
        return
    row[APPLICATION.ended], row[APPLICATION.ended_at] = 1, present(run)
    tell(run, KIND.end, run.plan.home[application], application_words(run, application), 0)
    give_back(run, application)
    give_back_chunks(run, application)


PAGE = 2 << 20
"""Bytes of a page where `pages` is neutral."""
NOT_ANSWERED, IN_POOL, NOT_IN_POOL = range(3)
"""What the pool has said of a tensor."""


@noinline
def ask_for(run: Run, step: int) -> None:
    """Ask the pool for the tensor of a step, which ends."""
    plan, ports, part = run.plan, run.ports, part_of_pool(run)
    tensor = plan.what[step]
    home = plan.home[plan.owner_of[tensor]]
    _note_allocation(run, tensor)
    if run.rules.memory == AT_ONCE:
        _grant_at_once(run, tensor, home)
    run.state.ticket[tensor, TICKET.first], run.state.ticket[tensor, TICKET.second] = step_words(run, step), 0
    run.state.ticket[tensor, TICKET.bytes] = plan.size[tensor]
    row = run.state.tensor[tensor]
    # A tensor that was granted at once stays granted.
    row[TENSOR.status] = max(row[TENSOR.status], ASKED)
    place = run.boards[home]
    reply = call(ports.ask_allocate[part], ports.lent[part], (tensor, place, plan.size[tensor], present(run)))
    if not check_answer(run, part, reply):
        return
    tell_of_pool(run)
    plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)
    look_again(run, part)


@noinline
def _grant_at_once(run: Run, tensor: int, home: int) -> None:
    """Let a tensor lie as one run at frame 0 of the home card (N19)."""
    plan = run.plan
    open_mapping(run.pages, tensor, plan.owner_of[tensor], plan.size[tensor])
    rounded = (plan.size[tensor] + PAGE - 1) // PAGE * PAGE
    if rounded > 0 and map_run(run.pages, tensor, 0, rounded) == NEEDS_ROOM:
        fail(run.state.counters, FAULT.pages_full, present(run), tensor, NONE)
    grant(run, tensor, run.boards[home])


@noinline
def grant(run: Run, tensor: int, card: int) -> None:
    """Let a tensor whose runs are mapped be there."""
    row, plan = run.state.tensor[tensor], run.plan
    row[TENSOR.status], row[TENSOR.card] = GRANTED, card
    application, first = plan.owner_of[tensor], run.state.counters[COUNT.details]
    words = application_words(run, application)
    for page in range(run.pages.count[tensor]):
        tell_detail(run, page_tag(run.pages, tensor, page))
        tell_detail(run, card)
    tell(run, KIND.map, plan.home[application], words, 0, tensor, first, run.pages.count[tensor])
    wake_kernels(run, application)
    # A step may have freed it before it was granted.
    free_if_may(run, tensor)


@noinline
def free_if_may(run: Run, tensor: int) -> None:
    """Let a tensor be freed that waits for it, is granted, and that no kernel names any more (E5, N15); memory of an
    application that was refused waits for the end of its last group (E2)."""
    row, application = run.state.tensor[tensor], run.state.application[run.plan.owner_of[tensor]]
    step = row[TENSOR.free_step]
    if step == NONE or row[TENSOR.status] != GRANTED or row[TENSOR.planned] or application[APPLICATION.refused]:
        return
    if row[TENSOR.users] > 0:
        if run.rules.free_in_use == 1:
            fail(run.state.counters, FAULT.freed_in_use, present(run), step, tensor)
        return
    row[TENSOR.planned] = 1
    plan_event(run, present(run), RANK.frees, step_words(run, step), 0, WHAT.free, tensor)


@noinline
def free_tensor(run: Run, tensor: int) -> None:
    """Free a tensor: its pages are unmapped at once, modules that held one are stalled, the pool is asked (N36)."""
    row, plan = run.state.tensor[tensor], run.plan
    step = row[TENSOR.free_step]
    words = step_words(run, step) if step != NONE else application_words(run, plan.owner_of[tensor])
    run.state.ticket[tensor, TICKET.free_first], run.state.ticket[tensor, TICKET.free_second] = words, 0
    # Before the mapping is closed: the tags of its pages are read from it.
    unmap(run, tensor, plan.home[plan.owner_of[tensor]], words, 0)
    row[TENSOR.status] = FREED
    close_mapping(run.pages, tensor)
    plan_event(run, present(run), RANK.shoot_downs, words, 0, WHAT.shoot, tensor)
    release_if_may(run, tensor)


@noinline
def release_if_may(run: Run, tensor: int) -> None:
    """Give the memory of a tensor that was freed back to the pool, once the pool has granted it."""
    row, ports, part = run.state.tensor[tensor], run.ports, part_of_pool(run)
    if row[TENSOR.status] == FREED and row[TENSOR.pool] == IN_POOL:
        check_answer(run, part, call(ports.ask_release[part], ports.lent[part], (tensor, present(run))))
        tell_of_pool(run)
        look_again(run, part)
    elif row[TENSOR.status] == FREED:
        released(run, tensor)


@noinline
def plan_late_release(run: Run, tensor: int) -> None:
    """Let memory go back at once that was granted after its tensor was freed (N18)."""
    row = run.state.ticket[tensor]
    row[TICKET.free_first], row[TICKET.free_second] = row[TICKET.first], row[TICKET.second]
    plan_event(run, present(run), RANK.frees, row[TICKET.first], row[TICKET.second], WHAT.late_release, tensor)


@noinline
def released(run: Run, tensor: int) -> None:
    """Let the step that freed a tensor end, if it has not yet."""
    row = run.state.tensor[tensor]
    step = row[TENSOR.free_step]
    if step != NONE and row[TENSOR.left] == 0:
        row[TENSOR.left] = 1
        plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)


@noinline
def give_back(run: Run, application: int) -> None:
    """Give back what an application has at its end: its tensors in the order of allocation (N17)."""
    words, tensor = application_words(run, application), run.state.application[application, APPLICATION.first_tensor]
    while tensor != NONE:
        row = run.state.tensor[tensor]
        if row[TENSOR.status] == GRANTED and not row[TENSOR.planned]:
            row[TENSOR.planned], row[TENSOR.free_step] = 1, NONE
            plan_event(run, present(run), RANK.frees, words, 0, WHAT.free, tensor)
        tensor = row[TENSOR.next]


@noinline
def _note_allocation(run: Run, tensor: int) -> None:
    """Put a tensor behind those that its application allocated before."""
    application = run.state.application[run.plan.owner_of[tensor]]
    run.state.tensor[tensor, TENSOR.next] = NONE
    if application[APPLICATION.first_tensor] == NONE:
        application[APPLICATION.first_tensor] = tensor
    else:
        run.state.tensor[application[APPLICATION.last_tensor], TENSOR.next] = tensor
    application[APPLICATION.last_tensor] = tensor


@noinline
def leave_tensors(run: Run, kernel: int) -> None:
    """Let the tensors that a kernel named go, which has ended."""
    plan = run.plan
    for place in range(plan.first_named[kernel], plan.first_named[kernel + 1]):
        run.state.tensor[plan.named[place], TENSOR.users] -= 1
        free_if_may(run, plan.named[place])
