"""Who waits for what when nothing is pending any more: the sentence of a failed run (spec 6, E7)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.engines.node.plan import FREES, LAUNCHES, Plan
from workbench.engines.node.state import APPLICATION, CALL, GRANTED, GROUP, KERNEL, NONE, STREAM, TENSOR, State

MOST_NAMED = 4
UNDER_WAY = 1
"""The status of a call of malloc that is not answered."""


def who_waits(plan: Plan, state: State) -> str:
    """Return who waits for what, the first few of them."""
    each = list(_waits(plan, state))
    more = f"; and {len(each) - MOST_NAMED} more" if len(each) > MOST_NAMED else ""
    return "; ".join(each[:MOST_NAMED]) + more


def _waits(plan: Plan, state: State) -> Iterator[str]:
    for application in range(plan.home.size):
        if state.application[application, APPLICATION.ended]:
            continue
        for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
            step = int(state.stream[stream, STREAM.step])
            if step not in (NONE, plan.first_step[stream + 1]):
                number = stream - plan.first_stream[application]
                place = step - plan.first_step[stream]
                yield f"application {application}, stream {number}, step {place} waits for {_what(plan, state, step)}"


def _what(plan: Plan, state: State, step: int) -> str:
    what = int(plan.what[step])
    if plan.kind[step] == LAUNCHES:
        return _of_kernel(plan, state, what)
    if plan.kind[step] == FREES:
        users = int(state.tensor[what, TENSOR.users])
        return f"{users} kernels that name its tensor" if users else "the memory that it frees"
    return "another stream"


def _of_kernel(plan: Plan, state: State, kernel: int) -> str:
    """Return what a kernel waits for: a tensor, room in a module, a chunk of its heap."""
    if state.kernel[kernel, KERNEL.waits]:
        named = plan.named[plan.first_named[kernel] : plan.first_named[kernel + 1]]
        missing = int((state.tensor[named, TENSOR.status] != GRANTED).sum())
        return f"{missing} tensors that the pool has not granted"
    groups = state.group[plan.first_group[kernel] : plan.first_group[kernel + 1]]
    queued = int(((groups[:, GROUP.began] == NONE) & (groups[:, GROUP.ended] == NONE)).sum())
    held = int(((groups[:, GROUP.began] != NONE) & (groups[:, GROUP.ended] == NONE)).sum())
    calls = int(np.count_nonzero(state.call[:, CALL.status] == UNDER_WAY))
    what = [f"{queued} groups that wait for a module"] if queued else []
    if held:
        what.append(f"{held} groups that hold one" + (f" ({calls} calls of malloc wait for memory)" if calls else ""))
    return " and ".join(what) or "its groups"
