"""What enters the instruction history of a module: instructions of a phase, and, coupled, waits (spec 6, R16, N10,
N11)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.energy import spend
from workbench.engines.node.planning import check_answer, part_of_dispatch, present
from workbench.engines.node.state import CALL, NONE, TASK, Run

CLASSES = 6
TRANSLATION_STALL, LOCK_WAIT = 6, 7
ENTERED, ACQUIRED = range(2)


@noinline
def enter(run: Run, card: int, module: int, kind: int, first: int, cycles: int, amount: int) -> None:
    """Enter something into the history of a module."""
    ports, part = run.ports, part_of_dispatch(run, card)
    check_answer(run, part, call(ports.enter_history[part], ports.lent[part], (module, kind, first, cycles, amount)))


@noinline
def enter_instructions(run: Run, task: int, phase: int, cycles: int) -> None:
    """Enter what a task executes in a phase that begins now; a sub-group its share, the first ones the remainder."""
    row, plan = run.state.task[task], run.plan
    waves = plan.waves[row[TASK.kernel]]
    for kind in range(CLASSES):
        amount = plan.instructions[phase * CLASSES + kind]
        if row[TASK.wave] != NONE:
            amount = amount // waves + (row[TASK.wave] < amount % waves)
        if amount > 0:
            spend(run, row[TASK.card], row[TASK.module], kind, present(run), cycles, amount)
            enter(run, row[TASK.card], row[TASK.module], kind, present(run), cycles, amount)


@noinline
def enter_stall(run: Run, task: int) -> None:
    """Enter the cycles for which a task has waited for the touches of its phase, whose last is answered."""
    row = run.state.task[task]
    cycles = present(run) - row[TASK.computed]
    if run.rules.history and cycles > 0:
        enter(run, row[TASK.card], row[TASK.module], TRANSLATION_STALL, row[TASK.computed], cycles, cycles)


@noinline
def enter_lock_wait(run: Run, number: int, part: int) -> None:
    """Enter the cycles for which the request of a call that was answered last has waited for the lock."""
    row, ports = run.state.call[number], run.ports
    if run.rules.history == 0 or run.calls.requests[number] == 0:
        return
    request = run.calls.first_request[number] + run.calls.requests[number] - 1
    first = call(ports.time_of[part], ports.lent[part], (request, ENTERED))
    cycles = call(ports.time_of[part], ports.lent[part], (request, ACQUIRED)) - first
    if cycles > 0:
        enter(run, row[CALL.card], row[CALL.module], LOCK_WAIT, first, cycles, cycles)
