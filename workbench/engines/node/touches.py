"""Touches of a phase: when each enters its module's queue, and what its accesses read (spec 6, R7).

One touch a cycle enters the queue of its module when the one before it was issued (E1, N23, N27).
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.kit.faults import fail
from workbench.engines.kit.order import RANK
from workbench.engines.node.pages import page_tag
from workbench.engines.node.plan import MOST_TOUCHES
from workbench.engines.node.schedule import (
    WHAT,
    check_answer,
    kernel_words,
    look_again,
    part_of_translation,
    plan_event,
    present,
    task_words,
)
from workbench.engines.node.state import (
    ACCESS,
    COUNT,
    FAULT,
    MATCH_PLACE,
    MATCH_TOUCH,
    NEEDS_ROOM,
    NONE,
    TASK,
    TENSOR,
    Run,
)
from workbench.engines.node.telemetry import KIND, share_of_task, tell
from workbench.engines.node.touched_bytes import bytes_touched, page_simulated, pages_simulated

COMPUTE, LOCK, SERVICE, CHUNK, SHOT = 2, 7, 8, 9, 10
"""Parts of a path that come before a touch (`path_times.TIME`)."""


@noinline
def touches_of_phase(run: Run, kernel: int, group: int, phase: int) -> int:
    """Return the number of pages that a group touches at the end of a phase."""
    count = 0
    for touch in range(run.plan.first_touch[phase], run.plan.first_touch[phase + 1]):
        count += pages_simulated(run, touch, kernel, group)
    return count


@noinline
def touches_of_task(run: Run, task: int, phase: int) -> int:
    """Return the number of them that a task touches."""
    row = run.state.task[task]
    kernel = row[TASK.kernel]
    count = touches_of_phase(run, kernel, row[TASK.group] - run.plan.first_group[kernel], phase)
    return share_of_task(run, task, count)


@noinline
def find_page(run: Run, kernel: int, group: int, phase: int, position: int) -> int:
    """Return the page of its tensor that lies at a position of a phase's touches; whose it is stands in `match`."""
    match = run.state.match
    for touch in range(run.plan.first_touch[phase], run.plan.first_touch[phase + 1]):
        pages = pages_simulated(run, touch, kernel, group)
        if position < pages:
            match[MATCH_TOUCH], match[MATCH_PLACE] = touch, position
            return page_simulated(run, touch, kernel, group, position)
        position -= pages
    return NONE


@noinline
def first_touch(run: Run, task: int, phase: int) -> None:
    """Let the first touch of a phase enter the queue of its module."""
    row, path = run.state.task[task], run.state.path[task]
    # Wave w begins with touch w; a whole group (-1) with touch 0.
    access = _plan_touch(run, task, phase, max(row[TASK.wave], 0), present(run))
    if access == NONE:
        return
    of_touch = run.state.access[access]
    of_touch[ACCESS.computed], of_touch[ACCESS.stalled] = present(run), row[TASK.stalled]
    # With `touches_hold: none` the path goes on before the touch is answered. So the access keeps a copy of the path's
    # parts up to here.
    of_touch[ACCESS.compute], of_touch[ACCESS.lock], of_touch[ACCESS.service] = path[COMPUTE], path[LOCK], path[SERVICE]
    of_touch[ACCESS.chunk], of_touch[ACCESS.shot] = path[CHUNK], path[SHOT]


@noinline
def next_touch(run: Run, access: int) -> None:
    """Let the touch behind one that was just issued enter the queue a cycle later."""
    row = run.state.access[access]
    task, phase = row[ACCESS.task], row[ACCESS.phase]
    following = _plan_touch(
        run, task, phase, _next_position(run, task, row[ACCESS.position]), present(run) + run.rules.issue_cycles
    )
    if following != NONE:
        for field in range(ACCESS.computed, ACCESS.issued):
            run.state.access[following, field] = row[field]


@noinline
def _next_position(run: Run, task: int, position: int) -> int:
    """Return the position behind one in the list of a group's touches of which its task has the next touch."""
    of_task = run.state.task[task]
    waves = run.plan.waves[of_task[TASK.kernel]]
    # A sub-group has neighboring waves. Behind its last wave the touches of all other waves are passed over.
    is_last = of_task[TASK.wave] != NONE and position % waves == of_task[TASK.wave] + of_task[TASK.waves] - 1
    return position + 1 + (waves - of_task[TASK.waves] if is_last else 0)


@noinline
def _plan_touch(run: Run, task: int, phase: int, position: int, cycle: int) -> int:
    """Let a touch of a task enter the queue of its module at a cycle; return its access, -1 = no such touch, or no
    space."""
    state, of_task = run.state, run.state.task[task]
    kernel = of_task[TASK.kernel]
    page = find_page(run, kernel, of_task[TASK.group] - run.plan.first_group[kernel], phase, position)
    if page == NONE:
        return NONE
    if position >= MOST_TOUCHES:
        fail(state.counters, FAULT.too_many_touches, present(run), NONE, NONE)
        return NONE
    access = state.counters[COUNT.free_access]
    if access == NONE:
        fail(state.counters, FAULT.accesses_full, present(run), NONE, NONE)
        return NONE
    row = state.access[access]
    state.counters[COUNT.free_access] = row[ACCESS.next]
    tensor = run.plan.tensor[state.match[MATCH_TOUCH]]
    row[ACCESS.task], row[ACCESS.phase], row[ACCESS.position] = task, phase, position
    row[ACCESS.tag], row[ACCESS.tensor] = page_tag(run.pages, tensor, page), tensor
    row[ACCESS.entered] = NONE
    local = of_task[TASK.group] - run.plan.first_group[kernel]
    row[ACCESS.bytes] = bytes_touched(run, state.match[MATCH_TOUCH], kernel, local, state.match[MATCH_PLACE])
    first, second = access_first(run, access), access_second(run, access)
    plan_event(run, cycle, RANK.touches, first, second, WHAT.touch, access)
    return access


@noinline
def access_first(run: Run, access: int) -> int:
    """Return the first word of K of a touch."""
    of_task = run.state.task[run.state.access[access, ACCESS.task]]
    return kernel_words(run, of_task[TASK.kernel], of_task[TASK.card])


@noinline
def access_second(run: Run, access: int) -> int:
    """Return the second word of K of a touch, which is numbered among those of its task."""
    row = run.state.access[access]
    number = share_of_task(run, row[ACCESS.task], row[ACCESS.position])
    return task_words(run, row[ACCESS.task], row[ACCESS.phase], number)


@noinline
def enter_touch(run: Run, access: int) -> None:
    """Let a touch enter the queue of its module."""
    row, ports = run.state.access[access], run.ports
    of_task = run.state.task[row[ACCESS.task]]
    part, module = part_of_translation(run, of_task[TASK.card]), of_task[TASK.module]
    entered = call(ports.ask_access[part], ports.lent[part], (module, row[ACCESS.tag], access, present(run)))
    if entered == NEEDS_ROOM:
        # The touch enters again once the part has more space; until then the calendar pauses.
        first, second = access_first(run, access), access_second(run, access)
        plan_event(run, present(run), RANK.touches, first, second, WHAT.touch, access)
        fail(run.state.counters, FAULT.part_full, present(run), part, NONE)
        return
    if not check_answer(run, part, entered):
        return
    if run.rules.events:
        first, second = access_first(run, access), access_second(run, access)
        tell(run, KIND.request, of_task[TASK.card], first, second, module, row[ACCESS.tag])
    row[ACCESS.entered] = present(run)
    run.state.counters[COUNT.touches] += 1
    run.state.counters[COUNT.touched_bytes] += row[ACCESS.bytes]
    run.state.counters[COUNT.remote_touches] += (
        run.state.tensor[row[ACCESS.tensor], TENSOR.card] != run.boards[of_task[TASK.card]]
    )
    look_again(run, part)


@noinline
def give_access(run: Run, access: int) -> None:
    """Give a row of the accesses back."""
    run.state.access[access, ACCESS.next] = run.state.counters[COUNT.free_access]
    run.state.counters[COUNT.free_access] = access
