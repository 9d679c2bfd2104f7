"""The end of a touch: its data are there."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.node.groups import answered
from workbench.engines.node.past import enter_stall
from workbench.engines.node.state import ACCESS, HOLD_GROUP, TASK, Run
from workbench.engines.node.times import end_of_touch
from workbench.engines.node.touching import give_access


@noinline
def end_touch(run: Run, access: int) -> None:
    """Let a touch be over whose data are there."""
    task = run.state.access[access, ACCESS.task]
    end_of_touch(run, access)
    give_access(run, access)
    if run.rules.touches_hold == HOLD_GROUP:
        run.state.task[task, TASK.touches] -= 1
        if run.state.task[task, TASK.touches] == 0:
            enter_stall(run, task)
    answered(run, task, run.rules.touches_hold == HOLD_GROUP)
