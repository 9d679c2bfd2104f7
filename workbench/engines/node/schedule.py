"""The schedule of a node: its heap of events, the words of K that order them, the next moment of each part by number.

The first events of a run are the arrivals of its applications.
"""

from __future__ import annotations

from typing import NamedTuple

from workbench.compiled import RAISED, kernel, noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit import numbered
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK, RANKS, cycle_of, moment
from workbench.engines.node.event_heap import ENTERED, EVENTS, enter, is_full
from workbench.engines.node.plan import ABSENT, member, owner
from workbench.engines.node.state import COUNT, FAULT, NONE, TASK, Run


class Whats(NamedTuple):
    """What may happen."""

    arrive: int
    compute_end: int
    release: int
    free: int
    blocks: int
    shoot: int
    step_end: int
    put_forward: int
    ask_pool: int
    touch: int
    malloc: int
    malloc_answer: int
    late_blocks: int
    data: int
    ask_chunk: int
    free_chunk: int
    late_release: int


WHAT = numbered(Whats)


@kernel
def present(run: Run) -> int:
    """Return the present cycle."""
    return cycle_of(run.state.counters[COUNT.now])


@noinline
def plan_event(run: Run, cycle: int, rank: int, first: int, second: int, what: int, subject: int) -> None:
    """Let something happen at a cycle and a rank."""
    if is_full(run.state.event_heap):
        fail(run.state.counters, FAULT.event_heap_full, cycle, NONE, NONE)
        return
    enter(run.state.event_heap, moment(cycle, rank), first, second, what, subject)


@noinline
def application_words(run: Run, application: int) -> int:
    """Return the first word of K of an application."""
    return owner(run.plan.home[application], application, ABSENT, ABSENT)


@noinline
def step_words(run: Run, step: int) -> int:
    """Return the first word of K of a step."""
    plan = run.plan
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    return owner(
        plan.home[application],
        application,
        stream - plan.first_stream[application],
        step - plan.first_step[stream],
    )


@noinline
def kernel_words(run: Run, kernel: int, card: int) -> int:
    """Return the first word of K of a kernel's groups on a card."""
    plan = run.plan
    step = plan.step_of[kernel]
    stream = plan.stream_of[step]
    application = plan.application_of[stream]
    return owner(card, application, stream - plan.first_stream[application], step - plan.first_step[stream])


@noinline
def task_words(run: Run, task: int, phase: int, touch: int) -> int:
    """Return the second word of K of a task, of a phase and a touch or -1."""
    row, plan = run.state.task[task], run.plan
    kernel = row[TASK.kernel]
    of_kernel = phase - plan.first_phase[kernel] if phase >= 0 else ABSENT
    return member(row[TASK.group] - plan.first_group[kernel], row[TASK.wave], of_kernel, touch)


@kernel
def part_of_dispatch(run: Run, card: int) -> int:
    """Return the number of a card's dispatcher among the parts."""
    return card


@kernel
def part_of_translation(run: Run, card: int) -> int:
    """Return the number of a card's translation among the parts."""
    return run.rules.cards + card


@kernel
def part_of_heap(run: Run, card: int, application: int) -> int:
    """Return the number of an application's heap on a card among the parts."""
    return 2 * run.rules.cards + card * run.rules.applications + application


@kernel
def part_of_pool(run: Run) -> int:
    """Return the number of the pool among the parts."""
    return 2 * run.rules.cards + run.rules.cards * run.rules.applications


@noinline
def look_again(run: Run, part: int) -> None:
    """Read again when a part's next event comes."""
    ports = run.ports
    run.state.soonest[part] = call(ports.next_moment[part], ports.lent[part], ())


@noinline
def check_answer(run: Run, part: int, answer: int) -> bool:
    """Return whether a part has answered; else the run stops, and the part says why."""
    if answer == RAISED or answer < 0:
        fail(run.state.counters, FAULT.part, present(run), part, answer)
        return False
    return True


CARD_BITS, APPLICATION_BITS = 56, 42
"""Where the fields of an application lie in the first word of K (`plan.owner`); what is absent is 0."""


def start(run: Run) -> None:
    """Enter the arrivals of all applications; in their order they are a heap."""
    plan, events = run.plan, run.state.event_heap
    rows = []
    for application, arrival in enumerate(plan.arrival.tolist()):
        first = (int(plan.home[application]) + 1) << CARD_BITS | (application + 1) << APPLICATION_BITS
        rows.append((arrival * RANKS + RANK.steps, first, 0, application, WHAT.arrive, application))
    events.counters[EVENTS] = events.counters[ENTERED] = len(rows)
    events.heap[: len(rows)] = sorted(rows)
