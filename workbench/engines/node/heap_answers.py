"""What follows when a call of malloc is answered."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.blocks import plan_late_free
from workbench.engines.node.groups import answered
from workbench.engines.node.mallocs import ANSWERED, call_member, call_owner, heap_of_call
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.state import CALL, COUNT, GROUP, NONE, WAIT, Run


@noinline
def answer_call(run: Run, number: int) -> None:
    """Let a call be answered: its task goes on if it waits for it; after the group's end what it got goes back."""
    row = run.state.call[number]
    nulls = _nulls(run, number)
    row[CALL.status], row[CALL.nulls] = ANSWERED, nulls
    run.state.counters[COUNT.nulls] += nulls
    tell(run, KIND.malloc_answer, row[CALL.card], call_owner(run, number), call_member(run, number), nulls)
    if run.rules.malloc == WAIT:
        answered(run, row[CALL.task], True)
    elif run.state.group[_group_of(run, number), GROUP.ended] != NONE:
        plan_late_free(run, number)


@noinline
def _group_of(run: Run, number: int) -> int:
    plan, calls = run.plan, run.calls
    return plan.first_group[plan.of_kernel[calls.phase[number]]] + calls.group[number]


@noinline
def _nulls(run: Run, number: int) -> int:
    """Return how many requests of a call got nothing."""
    ports, part, first = run.ports, heap_of_call(run, number), run.calls.first_request[number]
    count = 0
    for request in range(first, first + run.calls.requests[number]):
        count += 1 - call(ports.was_served[part], ports.lent[part], (request,))
    return count
