"""What is asked of a translation that has no room for it: it is asked again when the run goes on, with more room.

Arrays grow in Python alone, so the calendar pauses; what it had begun it ends first.
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.faults import fail
from workbench.engines.node.planning import check_answer, look_again, part_of_translation, present
from workbench.engines.node.state import COUNT, FAULT, NEEDS_ROOM, NONE, Run

END_WALK, STALL = range(2)
"""What may be asked: that a walk ends; that a module is stalled until a cycle."""
MOST = 1 << 12
"""Things that may have to be asked again."""


@noinline
def ask_translation(run: Run, card: int, what: int, one: int, two: int) -> int:
    """Ask a card's translation for something, and return its answer; now, or when it has room, then -2."""
    part = part_of_translation(run, card)
    answer = _ask(run, part, what, one, two)
    if answer == NEEDS_ROOM:
        row = run.state.pending[run.state.counters[COUNT.pending] % MOST]
        row[0], row[1], row[2], row[3] = card, what, one, two
        run.state.counters[COUNT.pending] += 1
        fail(run.state.counters, FAULT.part_full, present(run), part, NONE)
    elif check_answer(run, part, answer):
        look_again(run, part)
    return answer


@noinline
def _ask(run: Run, part: int, what: int, one: int, two: int) -> int:
    ports, lent = run.ports, run.ports.lent[part]
    answer: int
    if what == END_WALK:
        answer = call(ports.end_walk[part], lent, (one, present(run)))
    else:
        answer = call(ports.stall[part], lent, (one, two, present(run)))
    return answer


@noinline
def ask_again(run: Run) -> None:
    """Ask for what had no room."""
    count = run.state.counters[COUNT.pending]
    run.state.counters[COUNT.pending] = 0
    for at in range(count):
        row = run.state.pending[at]
        ask_translation(run, row[0], row[1], row[2], row[3])
