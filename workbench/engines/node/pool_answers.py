"""What follows from the answers of the pool."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.node.state import FREED, TENSOR, Run
from workbench.engines.node.tensors import IN_POOL, NOT_IN_POOL, plan_late_release, released

GRANTED, REFUSED, RELEASED, COPY, MOVED = range(5)
"""Kinds of answers."""


@noinline
def told_by_pool(run: Run, part: int, rows: int) -> None:
    """Read the answers of the pool."""
    ports = run.ports
    routine, lent = ports.answer_of[part], ports.lent[part]
    for at in range(rows):
        kind, tensor = call(routine, lent, (at, 0)), call(routine, lent, (at, 1))
        if kind == GRANTED or kind == REFUSED:
            run.state.tensor[tensor, TENSOR.pool] = IN_POOL if kind == GRANTED else NOT_IN_POOL
            if kind == GRANTED and run.state.tensor[tensor, TENSOR.status] == FREED:
                plan_late_release(run, tensor)
        elif kind == RELEASED:
            released(run, tensor)
    call(ports.forget_answers[part], lent, ())
