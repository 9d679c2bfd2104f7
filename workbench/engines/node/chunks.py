"""Chunks of device heaps: asked of the pool where a section finds no room, mapped, and given back with their
application (spec 6, R14, E8, N46, N51)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.mallocs import call_member, call_owner
from workbench.engines.node.pages import close_mapping
from workbench.engines.node.planning import (
    WHAT,
    application_words,
    check_answer,
    look_again,
    part_of_pool,
    plan_event,
    present,
)
from workbench.engines.node.pool_rows import tell_of_pool
from workbench.engines.node.state import APPLICATION, AT_ONCE, CALL, COUNT, FAULT, NONE, TICKET, Run
from workbench.engines.node.unmapping import unmap


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
    """Ask the pool for a chunk near the card of its heap; where nobody waits for chunks the heap has it at once."""
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
    unmap(run, ticket, run.plan.home[application], words, 0)
    close_mapping(run.pages, ticket)
    plan_event(run, present(run), RANK.shoot_downs, words, 0, WHAT.shoot, ticket)
    check_answer(run, part, call(ports.ask_release[part], ports.lent[part], (ticket, present(run))))
    tell_of_pool(run)
    look_again(run, part)
