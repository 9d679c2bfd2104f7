"""Applications and the steps of their streams, each begun when the one before it has ended (spec 6, R5, R6, N13 to
N21)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.entry import call
from workbench.engines.kit.order import RANK
from workbench.engines.node.ending import end_if_done
from workbench.engines.node.messages import KIND, tell
from workbench.engines.node.plan import ALLOCATES, FREES, LAUNCHES, WAITS
from workbench.engines.node.planning import (
    WHAT,
    application_words,
    check_answer,
    kernel_words,
    look_again,
    part_of_dispatch,
    plan_event,
    present,
    step_words,
)
from workbench.engines.node.readiness import put_forward_if_ready
from workbench.engines.node.state import APPLICATION, COUNT, GROUP, KERNEL, NONE, STREAM, TENSOR, Run
from workbench.engines.node.tensors import free_if_may

HOME = 0


@noinline
def begin_application(run: Run, application: int) -> None:
    """Let an application arrive and its streams begin."""
    plan = run.plan
    tell(run, KIND.arrive, plan.home[application], application_words(run, application), 0)
    first, end = plan.first_stream[application], plan.first_stream[application + 1]
    run.state.application[application, APPLICATION.left] = end - first
    for stream in range(first, end):
        run.state.stream[stream, STREAM.step] = plan.first_step[stream]
        begin_step(run, stream)
    end_if_done(run, application)


@noinline
def begin_step(run: Run, stream: int) -> None:
    """Begin the next step of a stream, if there is one and its application was not refused."""
    plan, state = run.plan, run.state
    step, application = state.stream[stream, STREAM.step], plan.application_of[stream]
    state.stream[stream, STREAM.since] = present(run)
    if state.application[application, APPLICATION.refused]:
        return
    if step == plan.first_step[stream + 1]:
        state.application[application, APPLICATION.left] -= 1
        return
    kind, what = plan.kind[step], plan.what[step]
    if kind == ALLOCATES:
        plan_event(run, present(run), RANK.pool_requests, step_words(run, step), 0, WHAT.ask_pool, step)
    elif kind == FREES:
        state.tensor[what, TENSOR.free_step] = step
        free_if_may(run, what)
    elif kind == LAUNCHES:
        state.kernel[what, KERNEL.waits], state.kernel[what, KERNEL.since] = 1, present(run)
        put_forward_if_ready(run, what)
    elif kind == WAITS:
        _end_wait_if_over(run, stream)


@noinline
def _end_wait_if_over(run: Run, stream: int) -> None:
    """End the wait that is a stream's step, if so many steps have ended."""
    plan, step = run.plan, run.state.stream[stream, STREAM.step]
    if run.state.stream[plan.what[step], STREAM.ended] >= plan.amount[step]:
        plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)


@noinline
def end_step(run: Run, step: int) -> None:
    """End a step, begin the next one of its stream, and let those go on that waited for it."""
    plan, state = run.plan, run.state
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    tell(run, KIND.step, plan.home[application], step_words(run, step), 0)
    state.counters[COUNT.makespan], state.counters[COUNT.steps] = present(run), state.counters[COUNT.steps] + 1
    state.stream[stream, STREAM.ended] += 1
    state.stream[stream, STREAM.step] += 1
    _end_waits(run, stream)
    begin_step(run, stream)
    end_if_done(run, application)


@noinline
def _end_waits(run: Run, ended: int) -> None:
    """End the waits for a stream that are over now."""
    plan, state = run.plan, run.state
    application = plan.application_of[ended]
    for stream in range(plan.first_stream[application], plan.first_stream[application + 1]):
        step = state.stream[stream, STREAM.step]
        if stream == ended or step == NONE or step == plan.first_step[stream + 1]:
            continue
        waits = plan.kind[step] == WAITS and plan.what[step] == ended
        if waits and state.stream[ended, STREAM.ended] == plan.amount[step]:
            _end_wait_if_over(run, stream)


@noinline
def put_forward(run: Run, kernel: int) -> None:
    """Let the groups of a kernel enter the channel of their application's priority, in order (N20)."""
    plan, state, ports = run.plan, run.state, run.ports
    step, groups = plan.step_of[kernel], plan.groups[kernel]
    application = plan.application_of[plan.stream_of[step]]
    if state.application[application, APPLICATION.refused]:
        return
    card = card_of(run, kernel)
    tell(run, KIND.put_forward, card, kernel_words(run, kernel, card), 0, groups)
    row = state.kernel[kernel]
    row[KERNEL.put], row[KERNEL.left], row[KERNEL.card] = present(run), groups, card
    state.application[application, APPLICATION.live] += groups
    state.counters[COUNT.put_forward] += groups
    part, words, first = part_of_dispatch(run, card), kernel_words(run, kernel, card), plan.first_group[kernel]
    for group in range(first, first + groups):
        state.group[group, GROUP.parts], state.group[group, GROUP.card] = 1, card
        if not check_answer(run, part, call(ports.ask_group[part], ports.lent[part], (group, present(run)))):
            return
        tell(run, KIND.enter, card, words, (group - first + 1) << 35, plan.priority[application])
    look_again(run, part)


@noinline
def card_of(run: Run, kernel: int) -> int:
    """Return the card that a kernel runs on: its application's, or the one that most of its tensors' pages lie on."""
    plan = run.plan
    home = plan.home[plan.application_of[plan.stream_of[plan.step_of[kernel]]]]
    if run.rules.kernel_card == HOME:
        return home
    best, most = home, 0
    for card in range(run.rules.cards):
        there = _bytes_on(run, kernel, card)
        if there > most:
            best, most = card, there
    return best


@noinline
def _bytes_on(run: Run, kernel: int, card: int) -> int:
    """Return the bytes of a kernel's tensors, in whole pages, that lie on a card."""
    plan, total = run.plan, 0
    for place in range(plan.first_named[kernel], plan.first_named[kernel + 1]):
        tensor = plan.named[place]
        if run.state.tensor[tensor, TENSOR.card] == run.boards[card]:
            total += run.pages.mapped[tensor]
    return total
