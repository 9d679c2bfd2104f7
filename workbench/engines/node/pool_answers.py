"""What follows from the answers of the pool (spec 6, R9, N13 to N19)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.chunks import answer_heap, chunk_granted
from workbench.engines.node.pages import map_run, open_mapping
from workbench.engines.node.planning import WHAT, plan_event, present
from workbench.engines.node.pool_state import COPY, GRANTED, MOVED, OF, REFUSED_, RELEASED_
from workbench.engines.node.refusing import refuse_application
from workbench.engines.node.remote import copy
from workbench.engines.node.state import (
    APPLICATION,
    AT_ONCE,
    CALL,
    FAULT,
    FREED,
    NEEDS_ROOM,
    NONE,
    REFUSED,
    TENSOR,
    TICKET,
    Run,
)
from workbench.engines.node.tensors import IN_POOL, NOT_IN_POOL, grant, plan_late_release, released
from workbench.engines.node.unmapping import unmap

START, LENGTH = range(2)


@noinline
def told_by_pool(run: Run, part: int, rows: int) -> None:
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
    """Map the runs of frames of a tensor or a chunk; return whether there was room."""
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
