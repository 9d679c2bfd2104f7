"""The end of a touch: its data are there."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.node.groups import answered
from workbench.engines.node.state import ACCESS, HOLD_GROUP, Run
from workbench.engines.node.touching import give_access


@noinline
def end_touch(run: Run, access: int) -> None:
    """Let a touch be over whose data are there."""
    task = run.state.access[access, ACCESS.task]
    give_access(run, access)
    answered(run, task, run.rules.touches_hold == HOLD_GROUP)
