"""What dispatchers tell: groups begin, are split, or leave their channels."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.dispatch.channels import (
    CANCELLED,
    DISPATCH,
    FIELDS,
    GRANTED,
    KIND,
    MODULE,
    SPLIT,
    TICKET,
    VERDICT,
    WAVE,
    WAVES,
)
from workbench.engines.node.groups import begin_task, cancel_part
from workbench.engines.node.keys import ABSENT, member
from workbench.engines.node.messages import KIND as MESSAGE
from workbench.engines.node.messages import tell, tell_detail
from workbench.engines.node.planning import kernel_words
from workbench.engines.node.state import COUNT, GROUP, Run


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
        elif kind == VERDICT:
            _tell_held(run, part, at, group, wave)
        elif kind == CANCELLED:
            cancel_part(run, part, group, wave)
        elif kind == GRANTED:
            module, dispatch = call(routine, lent, (at, MODULE)), call(routine, lent, (at, DISPATCH))
            begin_task(run, part, group, dispatch, module, wave, waves)
    call(ports.forget_answers[part], lent, ())


@noinline
def _tell_held(run: Run, card: int, at: int, group: int, wave: int) -> None:
    """Keep what a verdict was told: how many pages of a group each module holds."""
    ports, kernel, first = run.ports, run.plan.kernel_of[group], run.state.counters[COUNT.details]
    for module in range(run.rules.modules):
        tell_detail(run, call(ports.answer_of[card], ports.lent[card], (at, FIELDS + module)))
    second = member(group - run.plan.first_group[kernel], wave, ABSENT, ABSENT)
    tell(run, MESSAGE.held, card, kernel_words(run, kernel, card), second, first, run.rules.modules)
