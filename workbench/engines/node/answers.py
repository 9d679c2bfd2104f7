"""What translations tell, and what follows from it."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.planning import present
from workbench.engines.node.remote import fetch, read_walk
from workbench.engines.node.state import ACCESS, TASK, Run
from workbench.engines.node.times import note_issue
from workbench.engines.node.touching import access_first, access_second, next_touch
from workbench.engines.translation.telling import SAYS
from workbench.engines.translation.under_way import TOLD
from workbench.records.translation import SERVED_BY

WALK = SERVED_BY.index("walk")


@noinline
def told_by_translation(run: Run, part: int, rows: int) -> None:
    """Let what was issued be followed by the next touch, walks that are read by their bytes, answers by their data."""
    ports, card = run.ports, part - run.rules.cards
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, access = call(routine, lent, (at, TOLD.kind)), call(routine, lent, (at, TOLD.ticket))
        if kind == SAYS.issued:
            next_touch(run, access)
            note_issue(run, access)
        elif kind == SAYS.walk_read:
            read_walk(run, card, access, call(routine, lent, (at, TOLD.what)))
        elif kind == SAYS.answered:
            row = run.state.access[access]
            row[ACCESS.queued] = call(routine, lent, (at, TOLD.queued))
            row[ACCESS.begun] = call(routine, lent, (at, TOLD.begun))
            row[ACCESS.read] = call(routine, lent, (at, TOLD.read))
            row[ACCESS.walked] = call(routine, lent, (at, TOLD.ended))
            _answer(run, card, access, call(routine, lent, (at, TOLD.what)))
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
