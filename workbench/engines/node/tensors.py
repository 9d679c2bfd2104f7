"""Tensors: asked of the pool, granted, mapped, and given back (spec 6, R9, R10, E5, N13 to N19)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.messages import KIND, tell, tell_detail
from workbench.engines.node.pages import close_mapping, map_run, open_mapping, page_tag
from workbench.engines.node.planning import (
    WHAT,
    application_words,
    check_answer,
    look_again,
    part_of_pool,
    plan_event,
    present,
    step_words,
)
from workbench.engines.node.pool_rows import tell_of_pool
from workbench.engines.node.readiness import wake_kernels
from workbench.engines.node.state import (
    APPLICATION,
    ASKED,
    AT_ONCE,
    COUNT,
    FAULT,
    FREED,
    GRANTED,
    NEEDS_ROOM,
    NONE,
    TENSOR,
    TICKET,
    Run,
)
from workbench.engines.node.unmapping import unmap

PAGE = 2 << 20
"""Bytes of a page where `pages` is neutral."""
BY_HOLDERS = 0
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
