"""What dispatchers tell: groups begin, are split, or leave their channels."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.dispatch.told import CANCELLED, DISPATCH, GRANTED, KIND, MODULE, SPLIT, TICKET, WAVE, WAVES
from workbench.engines.node.groups import begin_task, cancel_part
from workbench.engines.node.state import GROUP, Run


@noinline
def told_by_dispatch(run: Run, part: int, rows: int) -> None:
    """Let groups that were dispatched begin."""
    ports, state = run.ports, run.state
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, group = call(routine, lent, (at, KIND)), call(routine, lent, (at, TICKET))
        wave, waves = call(routine, lent, (at, WAVE)), call(routine, lent, (at, WAVES))
        if kind == SPLIT:
            state.group[group, GROUP.parts] += waves - 1
        elif kind == CANCELLED:
            cancel_part(run, part, group, wave)
        elif kind == GRANTED:
            module, dispatch = call(routine, lent, (at, MODULE)), call(routine, lent, (at, DISPATCH))
            begin_task(run, part, group, dispatch, module, wave, waves)
    call(ports.forget_answers[part], lent, ())
