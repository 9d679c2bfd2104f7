"""What groups allocated on the device heap is given up at their ends (spec 6, N53)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.order import RANK
from workbench.engines.node.mallocs import ANSWERED, GIVEN_UP, call_member, call_owner, heap_of_call
from workbench.engines.node.planning import WHAT, check_answer, kernel_words, look_again, plan_event, present
from workbench.engines.node.state import CALL, Run


@noinline
def free_blocks(run: Run, group: int, card: int) -> None:
    """Let what a group allocated be given up at its end; what is not answered yet is when it will be."""
    plan = run.plan
    kernel = plan.kernel_of[group]
    if plan.first_malloc[plan.first_phase[kernel]] == plan.first_malloc[plan.first_phase[kernel + 1]]:
        return
    second = (group - plan.first_group[kernel] + 1) << 35
    plan_event(run, present(run), RANK.frees, kernel_words(run, kernel, card), second, WHAT.blocks, group)


@noinline
def give_up_blocks(run: Run, group: int) -> None:
    """Give up what a group got, call by call."""
    plan = run.plan
    kernel = plan.kernel_of[group]
    local, waves = group - plan.first_group[kernel], plan.waves[kernel]
    for phase in range(plan.first_phase[kernel], plan.first_phase[kernel + 1]):
        if plan.first_malloc[phase] < plan.first_malloc[phase + 1]:
            first = plan.first_call[phase] + local * waves
            for number in range(first, first + waves):
                if run.state.call[number, CALL.status] == ANSWERED:
                    give_up_call(run, number)


@noinline
def give_up_call(run: Run, number: int) -> None:
    """Give up what the lanes of a call got."""
    ports, part, first = run.ports, heap_of_call(run, number), run.calls.first_row[number]
    run.state.call[number, CALL.status] = GIVEN_UP
    for row in range(first, first + run.calls.rows[number]):
        if not check_answer(run, part, call(ports.ask_free[part], ports.lent[part], (row, present(run)))):
            return
    look_again(run, part)


@noinline
def plan_late_free(run: Run, number: int) -> None:
    """Let a call that was answered after its group's end give up what it got at once."""
    first, second = call_owner(run, number), call_member(run, number)
    plan_event(run, present(run), RANK.frees, first, second, WHAT.late_blocks, number)
