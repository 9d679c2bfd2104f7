"""The compiled loop of the engine `pool` in which a request waits for memory that no card has (spec 5, E16).

Who is due first asks first; of those due at the same time, who stands first in the trace. An application whose request
waits asks nothing meanwhile, and its clock stands still: what it asks later comes later by as long as it waited, its
death too. When all that could still ask wait, the run is over: they are refused, and what they had left is never asked.
What becomes of a request is the service's affair (`taking.py`).
"""

from __future__ import annotations

from workbench.compiled import by_reference, kernel, routine
from workbench.engines.kit.faults import FINE, STOP
from workbench.engines.pool.queue import ANSWERED, Clients, Service
from workbench.engines.pool.taking import end, give_up, head_gives_up, take
from workbench.structures.size_index import NONE
from workbench.structures.timetable import NEVER, set_turn


@routine
def simulate_waiting(service: Service, clients: Clients) -> None:
    """Serve every request that is ever asked, or stop when a policy breaks its contract."""
    run, crowd = by_reference(service), by_reference(clients)
    turns = clients.turns
    for app in range(clients.first.size):
        _ask_next(run, crowd, app, clients.first[app])
    while service.state.counters[STOP.fault] == FINE:
        due, row = turns.time[1], turns.number[1]
        if head_gives_up(run, due):
            give_up(run)
        elif due < NEVER:
            take(run, row, due)
            if service.waiting.line_of[row] == NONE:
                set_turn(crowd.turns, clients.app[row], NEVER, NONE)
        else:
            _see_what_is_left(run, crowd)
            end(run)
            return
        _go_on(run, crowd)


@kernel
def _ask_next(run: Service, clients: Clients, app: int, row: int) -> None:
    """Make a request the next of its application; -1 = that has no more."""
    time = NEVER if row == NONE else run.columns.time[row] + clients.late[app]
    set_turn(clients.turns, app, time, row)


@kernel
def _go_on(run: Service, clients: Clients) -> None:
    """Let the applications whose requests were answered go on, as late as those waited."""
    waiting = run.waiting
    for place in range(waiting.counters[ANSWERED]):
        row = waiting.answers[place]
        app = clients.app[row]
        clients.late[app] += waiting.waited[waiting.line_of[row]]
        _ask_next(run, clients, app, clients.following[row])
    waiting.counters[ANSWERED] = 0


@kernel
def _see_what_is_left(run: Service, clients: Clients) -> None:
    """Write down when each request would have been asked that is not answered."""
    for row in range(run.waiting.line_of.size):
        if run.waiting.line_of[row] == NONE:
            run.waiting.when[row] = run.columns.time[row] + clients.late[clients.app[row]]
