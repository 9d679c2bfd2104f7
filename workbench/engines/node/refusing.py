"""An application that was refused memory ends: its queued groups are cancelled, those under way end (spec 6, E2)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.ending import end_refused
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.plan import LAUNCHES
from workbench.engines.node.planning import application_words, check_answer, look_again, part_of_dispatch, present
from workbench.engines.node.state import APPLICATION, COUNT, KERNEL, NONE, Run
from workbench.engines.node.told_by_dispatch import told_by_dispatch


@noinline
def refuse_application(run: Run, application: int) -> None:
    """Let an application begin no further step, and its groups that wait leave their channels; one that has ended
    before the answer to its last request counts as refused too."""
    plan, row = run.plan, run.state.application[application]
    if row[APPLICATION.refused]:
        return
    row[APPLICATION.refused] = 1
    tell(run, KIND.refused, plan.home[application], application_words(run, application), 0)
    first, end = plan.first_stream[application], plan.first_stream[application + 1]
    steps = range(plan.first_step[first], plan.first_step[end])
    for step in steps:
        if plan.kind[step] == LAUNCHES:
            _put_no_more(run, plan.what[step])
    for card in range(run.rules.cards):
        for step in steps:
            if plan.kind[step] == LAUNCHES:
                _cancel(run, plan.what[step], card)
    end_refused(run, application)


@noinline
def _put_no_more(run: Run, kernel: int) -> None:
    """Count a kernel that was not put forward, and so never will be."""
    row = run.state.kernel[kernel]
    row[KERNEL.waits] = 0
    if row[KERNEL.put] == NONE:
        run.state.counters[COUNT.kernels_refused] += 1
        run.state.counters[COUNT.groups_refused] += run.plan.groups[kernel]


@noinline
def _cancel(run: Run, kernel: int, card: int) -> None:
    """Let the groups of a kernel that wait leave their channel, if it was put forward to this card."""
    row, ports = run.state.kernel[kernel], run.ports
    if row[KERNEL.left] == 0 or row[KERNEL.card] != card:
        return
    part = part_of_dispatch(run, card)
    first = run.plan.first_group[kernel]
    last = first + run.plan.groups[kernel] - 1
    left = call(ports.ask_cancel_range[part], ports.lent[part], (first, last, present(run)))
    if check_answer(run, part, left) and left > 0:
        told_by_dispatch(run, part, left)
    look_again(run, part)
