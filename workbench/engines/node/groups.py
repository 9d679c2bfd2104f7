"""The life of a group from its dispatch to its end (spec 6, R7, R12, R18).

Phase after phase it computes, touches and allocates. A task is a group, or a sub-group of one that was split. Under
`touches_hold: none` its phases follow each other as they are computed, its resources go back with the last, and the
group ends with the last answer.
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.heaps import free_blocks, plan_calls
from workbench.engines.node.path_times import begin_path, end_of_compute, end_of_phase, end_of_task, end_of_touch
from workbench.engines.node.plan import ABSENT, member
from workbench.engines.node.schedule import (
    WHAT,
    check_answer,
    kernel_words,
    look_again,
    part_of_dispatch,
    plan_event,
    present,
    step_words,
    task_words,
)
from workbench.engines.node.state import (
    ACCESS,
    APPLICATION,
    COUNT,
    FAULT,
    GROUP,
    HOLD_GROUP,
    KERNEL,
    NONE,
    TASK,
    WAIT,
    Run,
)
from workbench.engines.node.streams import end_refused, leave_tensors
from workbench.engines.node.telemetry import KIND, enter_instructions, enter_stall, note_module, tell
from workbench.engines.node.touches import first_touch, give_access, touches_of_task


@noinline
def take_task(run: Run) -> int:
    """Take a free row of the tasks; -1, and the run stops, where there is none."""
    state = run.state
    task = state.counters[COUNT.free_task]
    if task == NONE:
        fail(state.counters, FAULT.tasks_full, present(run), NONE, NONE)
        return NONE
    state.counters[COUNT.free_task] = state.task[task, TASK.next]
    return task


@noinline
def begin_task(run: Run, card: int, group: int, dispatch: int, module: int, wave: int, waves: int) -> None:
    """Let a group, or a sub-group, that was dispatched begin its first phase."""
    task = take_task(run)
    if task == NONE:
        return
    row, kernel, now = run.state.task[task], run.plan.kernel_of[group], present(run)
    for field in range(len(TASK)):
        row[field] = 0
    row[TASK.kernel], row[TASK.group], row[TASK.wave], row[TASK.card] = kernel, group, wave, card
    row[TASK.module], row[TASK.dispatch], row[TASK.waves] = module, dispatch, waves
    begin_path(run, task)
    words = kernel_words(run, kernel, card)
    tell(run, KIND.dispatch, card, words, task_words(run, task, ABSENT, ABSENT), module, waves)
    note_module(run, card, module)
    if run.state.group[group, GROUP.began] == NONE:
        run.state.group[group, GROUP.began] = now
    begin_phase(run, task, run.plan.first_phase[kernel])


@noinline
def begin_phase(run: Run, task: int, phase: int) -> None:
    """Let a task compute."""
    row, plan = run.state.task[task], run.plan
    kernel = row[TASK.kernel]
    row[TASK.phase] = phase
    lasts = plan.cycles[plan.first_cycles[phase] + row[TASK.group] - plan.first_group[kernel]]
    enter_instructions(run, task, phase, lasts)
    first = kernel_words(run, kernel, row[TASK.card])
    second = task_words(run, task, phase, ABSENT)
    plan_event(run, present(run) + lasts, RANK.ends_of_compute, first, second, WHAT.compute_end, task)


@noinline
def end_compute(run: Run, task: int) -> None:
    """Let a task whose compute is over touch and allocate."""
    row, rules = run.state.task[task], run.rules
    phase, touches = row[TASK.phase], touches_of_task(run, task, row[TASK.phase])
    calls = plan_calls(run, task, phase)
    row[TASK.computed] = present(run)
    kernel = row[TASK.kernel]
    end_of_compute(
        run, task, run.plan.cycles[run.plan.first_cycles[phase] + row[TASK.group] - run.plan.first_group[kernel]]
    )
    held_by_touches = touches if rules.touches_hold == HOLD_GROUP else 0
    held_by_calls = calls if rules.malloc == WAIT else 0
    # Touches that do not hold the phase still delay the end of the group (R12); such calls of malloc do not.
    row[TASK.open] += touches + held_by_calls
    row[TASK.waited], row[TASK.touches] = held_by_touches + held_by_calls, held_by_touches
    if touches > 0:
        first_touch(run, task, phase)
    if row[TASK.waited] == 0:
        end_phase(run, task)


@noinline
def end_phase(run: Run, task: int) -> None:
    """Let a task go on to its next phase, or give its resources back after the last."""
    row, plan = run.state.task[task], run.plan
    end_of_phase(run, task)
    kernel = row[TASK.kernel]
    if row[TASK.phase] + 1 < plan.first_phase[kernel + 1]:
        begin_phase(run, task, row[TASK.phase] + 1)
        return
    row[TASK.done] = 1
    first, second = kernel_words(run, kernel, row[TASK.card]), task_words(run, task, ABSENT, ABSENT)
    plan_event(run, present(run), RANK.releases, first, second, WHAT.release, task)
    end_if_over(run, task)


@noinline
def answered(run: Run, task: int, held: bool) -> None:
    """Count an answer for which the end of a task's group waits, and, where it held the task, the end of its phase."""
    row = run.state.task[task]
    row[TASK.open] -= 1
    if held:
        row[TASK.waited] -= 1
        if row[TASK.waited] == 0:
            end_phase(run, task)
            return
    end_if_over(run, task)


@noinline
def end_if_over(run: Run, task: int) -> None:
    """End a task that computes no more and waits for nothing, and its group with its last part."""
    row = run.state.task[task]
    if row[TASK.done] == 0 or row[TASK.open] > 0:
        return
    group = run.state.group[row[TASK.group]]
    group[GROUP.parts] -= 1
    row[TASK.over] = 1
    end_of_task(run, task)
    if group[GROUP.parts] == 0:
        end_group(run, row[TASK.group], row[TASK.card])
    # The row is needed until the task is both over and released; either may come first.
    if row[TASK.released] == 1:
        give_task(run, task)


@noinline
def release_task(run: Run, task: int) -> None:
    """Let a task give back what it holds of its module."""
    row, ports = run.state.task[task], run.ports
    card = row[TASK.card]
    part = part_of_dispatch(run, card)
    if not check_answer(run, part, call(ports.ask_end[part], ports.lent[part], (row[TASK.dispatch], present(run)))):
        return
    # Taken at once: no other release of this dispatcher is pending, so its next event is this one.
    if not check_answer(run, part, call(ports.take_next[part], ports.lent[part], ())):
        return
    call(ports.forget_answers[part], ports.lent[part], ())
    second = task_words(run, task, ABSENT, ABSENT)
    tell(run, KIND.release, card, kernel_words(run, row[TASK.kernel], card), second, row[TASK.module])
    note_module(run, card, row[TASK.module])
    look_again(run, part)
    row[TASK.released] = 1
    if row[TASK.over]:
        give_task(run, task)


@noinline
def give_task(run: Run, task: int) -> None:
    """Give a row of the tasks back."""
    run.state.task[task, TASK.next] = run.state.counters[COUNT.free_task]
    run.state.counters[COUNT.free_task] = task


@noinline
def end_group(run: Run, group: int, card: int) -> None:
    """End a group: what it allocated is given up, and with the last of a kernel the kernel's step ends."""
    state, kernel = run.state, run.plan.kernel_of[group]
    state.group[group, GROUP.ended] = present(run)
    state.counters[COUNT.groups_ended] += 1
    tell_group(run, KIND.group_end, group, card)
    free_blocks(run, group, card)
    leave_kernel(run, kernel)


@noinline
def cancel_part(run: Run, card: int, group: int, wave: int) -> None:
    """Let a group, or a sub-group, that waited be cancelled; a group of which a part has run ends with its last."""
    row, kernel = run.state.group[group], run.plan.kernel_of[group]
    second = member(group - run.plan.first_group[kernel], wave, ABSENT, ABSENT)
    tell(run, KIND.cancel, card, kernel_words(run, kernel, card), second)
    row[GROUP.parts] -= 1
    row[GROUP.cancelled] = 1
    if row[GROUP.parts] == 0:
        run.state.counters[COUNT.groups_cancelled] += 1
        _leave_application(run, kernel)


@noinline
def leave_kernel(run: Run, kernel: int) -> None:
    """Count a group of a kernel that has ended; with the last one its step ends, unless some were cancelled."""
    run.state.kernel[kernel, KERNEL.left] -= 1
    if run.state.kernel[kernel, KERNEL.left] == 0:
        leave_tensors(run, kernel)
        step = run.plan.step_of[kernel]
        plan_event(run, present(run), RANK.steps, step_words(run, step), 0, WHAT.step_end, step)
    _leave_application(run, kernel)


@noinline
def _leave_application(run: Run, kernel: int) -> None:
    """Count a group of a kernel's application that is no more; a refused one ends with its last."""
    application = run.plan.application_of[run.plan.stream_of[run.plan.step_of[kernel]]]
    run.state.application[application, APPLICATION.live] -= 1
    end_refused(run, application)


@noinline
def tell_group(run: Run, kind: int, group: int, card: int) -> None:
    """Keep a message of a whole group."""
    kernel = run.plan.kernel_of[group]
    second = group_words(run, group)
    tell(run, kind, card, kernel_words(run, kernel, card), second)


@noinline
def group_words(run: Run, group: int) -> int:
    """Return the second word of K of a whole group."""
    return (group - run.plan.first_group[run.plan.kernel_of[group]] + 1) << 35


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
