"""What the parts tell, read after each of their events, and what follows from it."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.order import RANK
from workbench.engines.node.groups import answered
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.planning import WHAT, plan_event, present
from workbench.engines.node.state import ACCESS, HOLD_GROUP, TASK, Run
from workbench.engines.node.touching import access_words, give_access, next_touch
from workbench.engines.translation.telling import SAYS
from workbench.engines.translation.under_way import TOLD


@noinline
def told_by_translation(run: Run, part: int, rows: int) -> None:
    """Let what was issued be followed by the next touch, and what was answered by its data."""
    ports = run.ports
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, access = call(routine, lent, (at, TOLD.kind)), call(routine, lent, (at, TOLD.ticket))
        if kind == SAYS.issued:
            next_touch(run, access)
        elif kind == SAYS.answered:
            _answer(run, part, at, access)
    call(ports.forget_answers[part], lent, ())


@noinline
def _answer(run: Run, part: int, at: int, access: int) -> None:
    """Let the data of a page come whose translation was answered."""
    ports, row = run.ports, run.state.access[access]
    card, served = part - run.rules.cards, call(ports.answer_of[part], ports.lent[part], (at, TOLD.what))
    first, second = access_words(run, access)
    module = run.state.task[row[ACCESS.task], TASK.module]
    tell(run, KIND.answer, card, first, second, module, row[ACCESS.tag], served, present(run) - row[ACCESS.entered])
    if run.rules.local_cycles > 0:
        plan_event(
            run, present(run) + run.rules.local_cycles, RANK.translation_answers, first, second, WHAT.data, access
        )
    else:
        end_touch(run, access)


@noinline
def end_touch(run: Run, access: int) -> None:
    """Let a touch be over whose data are there."""
    task = run.state.access[access, ACCESS.task]
    give_access(run, access)
    answered(run, task, run.rules.touches_hold == HOLD_GROUP)
