"""Kernels wait until every tensor that they name is granted (spec 6, R6, R9)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.kit.order import RANK
from workbench.engines.node.plan import LAUNCHES
from workbench.engines.node.planning import WHAT, plan_event, present, step_words
from workbench.engines.node.state import GRANTED, KERNEL, NONE, STREAM, TENSOR, Run


@noinline
def wake_kernels(run: Run, application: int) -> None:
    """Put the kernels of an application forward that waited for a tensor which is there now."""
    plan, state = run.plan, run.state
    for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
        step = state.stream[stream, STREAM.step]
        if step != NONE and step < plan.first_step[stream + 1] and plan.kind[step] == LAUNCHES:
            put_forward_if_ready(run, plan.what[step])


@noinline
def put_forward_if_ready(run: Run, kernel: int) -> None:
    """Let a kernel that waits be put forward, if every tensor that it names is granted."""
    plan, state = run.plan, run.state
    if state.kernel[kernel, KERNEL.waits] == 0:
        return
    for place in range(plan.first_named[kernel], plan.first_named[kernel + 1]):
        if state.tensor[plan.named[place], TENSOR.status] != GRANTED:
            return
    state.kernel[kernel, KERNEL.waits] = 0
    step = plan.step_of[kernel]
    plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.put_forward, kernel)
