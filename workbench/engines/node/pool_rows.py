"""Messages of the pool, as it logs them: of whom they are is known by the ticket."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.gauges import note_pool
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.planning import part_of_pool
from workbench.engines.node.pool_state import (
    ANSWER,
    GRANT,
    HAS_MOVED,
    MOVE,
    REFUSE,
    RELEASE,
    REQUEST,
    ROW,
    TAKEN_BACK,
    TO_DRIVER,
)
from workbench.engines.node.state import NONE, TICKET, Run


@noinline
def tell_of_pool(run: Run, first: int = 0) -> None:
    """Look at the memory, and keep what the pool has logged, from a row on, where messages are kept."""
    note_pool(run)
    if run.rules.events == 0:
        return
    ports, part = run.ports, part_of_pool(run)
    for at in range(first, call(ports.row_of[part], ports.lent[part], (-1, 0))):
        _tell_row(run, at)
    call(ports.forget_rows[part], ports.lent[part], ())


@noinline
def tell_end_of_job(run: Run) -> int:
    """Keep the row with which a job ends; return how many were kept. What follows from it comes before the next job."""
    ports, part = run.ports, part_of_pool(run)
    if run.rules.events == 0 or call(ports.row_of[part], ports.lent[part], (-1, 0)) == 0:
        return 0
    kind = _field(run, 0, ROW.kind)
    if kind in (ANSWER, TAKEN_BACK, MOVE, HAS_MOVED):
        _tell_row(run, 0)
        return 1
    return 0


@noinline
def _field(run: Run, at: int, field: int) -> int:
    """Return a field of a row of the pool's log."""
    part = part_of_pool(run)
    number: int = call(run.ports.row_of[part], run.ports.lent[part], (at, field))
    return number


@noinline
def _tell_row(run: Run, at: int) -> None:
    kind, card, ticket = _field(run, at, ROW.kind), _field(run, at, ROW.card), _field(run, at, ROW.ticket)
    address, size, source = _field(run, at, ROW.address), _field(run, at, ROW.bytes), _field(run, at, ROW.source)
    of_ticket = run.state.ticket[ticket]
    first, second = of_ticket[TICKET.first], of_ticket[TICKET.second]
    of_release = kind in (RELEASE, TAKEN_BACK, TO_DRIVER)
    if of_release and of_ticket[TICKET.free_first] != NONE:
        first, second = of_ticket[TICKET.free_first], of_ticket[TICKET.free_second]
    if kind == REQUEST:
        tell(run, KIND.pool_request, card, first, second, size)
    elif kind == GRANT:
        of_ticket[TICKET.card] = card
        tell(run, KIND.pool_grant, card, first, second, _field(run, at, ROW.borrower), address, size, source)
    elif kind == REFUSE:
        tell(run, KIND.pool_refuse, card, first, second, of_ticket[TICKET.bytes])
    elif kind == ANSWER:
        card = of_ticket[TICKET.card] if source else NONE
        tell(run, KIND.pool_answer, card, first, second, source)
    elif kind == RELEASE:
        tell(run, KIND.pool_release, card, first, second, address, size)
    elif kind == TAKEN_BACK:
        tell(run, KIND.pool_released, card, first, second, address)
    elif kind == TO_DRIVER:
        tell(run, KIND.pool_return, card, first, second, address, size)
    elif kind == MOVE:
        tell(run, KIND.pool_move, card, first, second, source, size)
    elif kind == HAS_MOVED:
        tell(run, KIND.pool_moved, card, first, second, source, size)
