"""Messages over the links of a board: walks and data of pages on other cards, and copies of the pool (spec 6, R13)."""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.directory import end_walk
from workbench.engines.node.groups import end_touch
from workbench.engines.node.link_state import NOBODY
from workbench.engines.node.links import begin, take_next
from workbench.engines.node.schedule import WHAT, check_answer, look_again, part_of_pool, plan_event, present
from workbench.engines.node.state import ACCESS, COUNT, FAULT, LINK, NEEDS_ROOM, NONE, TASK, TENSOR, TICKET, Run
from workbench.engines.node.telemetry import KIND, tell, tell_of_pool
from workbench.engines.node.touches import access_first, access_second

OF_WALK, OF_DATA, OF_COPY = range(3)
"""What a transfer is for."""
# A node has 64 cards at most. Walk, number, card and kind of a ticket share 63 bits: 29, 26, 6 and 2.
CARDS, ACCESSES = 64, 1 << 26


@kernel
def _ticket(walk: int, number: int, card: int, kind: int) -> int:
    """Return the ticket of a transfer: the walk, the access or the pool's ticket, the card, and what it is for."""
    return ((walk * ACCESSES + number) * CARDS + card) * 4 + kind


@noinline
def send(run: Run, source: int, target: int, size: int, first: int, second: int, ticket: int) -> None:
    """Send bytes from a card of the board to another."""
    tell(run, KIND.send, target, first, second, source, size)
    way = source * run.rules.places + target
    if begin(run.links, way, size, present(run), first, second, ticket) == NEEDS_ROOM:
        fail(run.state.counters, FAULT.links_full, present(run), NONE, NONE)


@noinline
def _is_remote(run: Run, access: int, card: int) -> bool:
    """Return whether a page that is touched lies on another card, and that matters."""
    place = run.state.tensor[run.state.access[access, ACCESS.tensor], TENSOR.card]
    return bool(run.rules.remote == LINK and place != run.boards[card])


@noinline
def read_walk(run: Run, card: int, access: int, walk: int) -> None:
    """Let a walk that is read end: at once for a page of the own card, else when its bytes have come."""
    if not _is_remote(run, access, card):
        end_walk(run, card, walk)
        return
    place = run.state.tensor[run.state.access[access, ACCESS.tensor], TENSOR.card]
    ticket = _ticket(walk, access, card, OF_WALK)
    first, second = access_first(run, access), access_second(run, access)
    send(run, place, run.boards[card], run.rules.walk_bytes, first, second, ticket)


@noinline
def fetch(run: Run, access: int) -> None:
    """Bring the data of a touch whose translation was answered."""
    row, rules = run.state.access[access], run.rules
    of_task = run.state.task[row[ACCESS.task]]
    card = of_task[TASK.card]
    first, second = access_first(run, access), access_second(run, access)
    row[ACCESS.remote] = int(_is_remote(run, access, card))
    if row[ACCESS.remote]:
        place = run.state.tensor[row[ACCESS.tensor], TENSOR.card]
        run.state.counters[COUNT.remote_bytes] += row[ACCESS.bytes]
        send(run, place, run.boards[card], row[ACCESS.bytes], first, second, _ticket(0, access, card, OF_DATA))
    elif rules.local_cycles > 0:
        cycle = present(run) + rules.local_cycles
        plan_event(run, cycle, RANK.translation_answers, first, second, WHAT.data, access)
    else:
        end_touch(run, access)


@noinline
def copy(run: Run, ticket: int, source: int, target: int, size: int) -> None:
    """Copy a region that moves to another card."""
    row = run.state.ticket[ticket]
    send(run, source, target, size, row[TICKET.first], row[TICKET.second], _ticket(0, ticket, target, OF_COPY))


@noinline
def take_link(run: Run) -> None:
    """Let a latency or a transfer of the links end, and what waited for it go on."""
    ticket = take_next(run.links)
    if ticket == NOBODY:
        return
    kind, card, rest = ticket & 3, (ticket >> 2) & (CARDS - 1), ticket // (CARDS * 4)
    number, walk = rest % ACCESSES, rest // ACCESSES
    if kind == OF_COPY:
        _end_copy(run, card, number)
        return
    tell(run, KIND.arrive_link, run.boards[card], access_first(run, number), access_second(run, number))
    if kind == OF_WALK:
        end_walk(run, card, walk)
    else:
        end_touch(run, number)


@noinline
def _end_copy(run: Run, target: int, ticket: int) -> None:
    """Let the pool go on whose copy has come to a card of the board."""
    row, part = run.state.ticket[ticket], part_of_pool(run)
    tell(run, KIND.arrive_link, target, row[TICKET.first], row[TICKET.second])
    check_answer(run, part, call(run.ports.copied[part], run.ports.lent[part], (present(run),)))
    tell_of_pool(run)
    look_again(run, part)
