"""What is kept of a run while it goes on: messages, gauges over time, instruction histories, energy (spec 6).

The log has a row a message that passes between the parts (R2); of whom those of the pool are is known by the ticket.

A gauge holds a value until it is set again: what is free and used of each module, of each card's frames, of all memory
(section 7). Means run from cycle 0 to the makespan, which is known at the end alone: a gauge keeps its integral up to
its last change, and that up to the last end of a step before.

Into the history of a module enter the instructions of a phase, and, coupled, waits (R16, N10, N11). What they cost is
summed by windows of time (spec 3, R78): `ROWS` at most, of `WINDOW` cycles each, or of a step of the thermal model. A
run that outlasts them goes on with windows of twice the length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import noinline
from workbench.compiled.memory_access import call
from workbench.engines.dispatch.part import FULL
from workbench.engines.kit import fail, numbered
from workbench.engines.kit.order import WHOLE_SHARE
from workbench.engines.node.pool_api import LIVE, RESERVED, SCATTERED
from workbench.engines.node.pool_jobs import (
    ANSWER,
    GRANT,
    HAS_MOVED,
    MOVE,
    REFUSE,
    RELEASE,
    REQUEST,
    ROW,
    TAKEN_BACK,
    TO_DRIVER,
)
from workbench.engines.node.schedule import check_answer, part_of_dispatch, part_of_pool, present
from workbench.engines.node.state import CALL, COUNT, FAULT, NONE, TASK, TICKET, Run
from workbench.records.node import KIND


@noinline
def tell(
    run: Run, kind: int, card: int, first: int, second: int, one: int = 0, two: int = 0, three: int = 0, four: int = 0
) -> None:
    """Keep a message, where messages are kept."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.messages]
    if at < state.messages.shape[0]:
        row = state.messages[at]
        row[0], row[1], row[2], row[3], row[4] = state.counters[COUNT.now], kind, card, first, second
        row[5], row[6], row[7], row[8] = one, two, three, four
    state.counters[COUNT.messages] += 1


@noinline
def tell_detail(run: Run, number: int) -> None:
    """Keep a number that a message points to."""
    if run.rules.events == 0:
        return
    state = run.state
    at = state.counters[COUNT.details]
    if at < state.details.shape[0]:
        state.details[at, 0] = number
    state.counters[COUNT.details] += 1


@noinline
def tell_of_pool(run: Run, first: int = 0) -> None:
    """Look at the memory, and keep what the pool has logged, from a row on, where messages are kept."""
    note_pool(run)
    if run.rules.events == 0:
        return
    ports, part = run.ports, part_of_pool(run)
    for at in range(first, call(ports.row_of[part], ports.lent[part], (-1, 0))):
        _tell_row(run, at)
    call(ports.forget_rows[part], ports.lent[part], ())


@noinline
def tell_end_of_job(run: Run) -> int:
    """Keep the row with which a job ends; return how many were kept. What follows from it comes before the next job."""
    ports, part = run.ports, part_of_pool(run)
    if run.rules.events == 0 or call(ports.row_of[part], ports.lent[part], (-1, 0)) == 0:
        return 0
    kind = _field(run, 0, ROW.kind)
    if kind in (ANSWER, TAKEN_BACK, MOVE, HAS_MOVED):
        _tell_row(run, 0)
        return 1
    return 0


@noinline
def _field(run: Run, at: int, field: int) -> int:
    """Return a field of a row of the pool's log."""
    part = part_of_pool(run)
    number: int = call(run.ports.row_of[part], run.ports.lent[part], (at, field))
    return number


@noinline
def _tell_row(run: Run, at: int) -> None:
    kind, card, ticket = _field(run, at, ROW.kind), _field(run, at, ROW.card), _field(run, at, ROW.ticket)
    address, size, source = _field(run, at, ROW.address), _field(run, at, ROW.bytes), _field(run, at, ROW.source)
    of_ticket = run.state.ticket[ticket]
    first, second = of_ticket[TICKET.first], of_ticket[TICKET.second]
    of_release = kind in (RELEASE, TAKEN_BACK, TO_DRIVER)
    if of_release and of_ticket[TICKET.free_first] != NONE:
        first, second = of_ticket[TICKET.free_first], of_ticket[TICKET.free_second]
    if kind == REQUEST:
        tell(run, KIND.pool_request, card, first, second, size)
    elif kind == GRANT:
        of_ticket[TICKET.card] = card
        tell(run, KIND.pool_grant, card, first, second, _field(run, at, ROW.borrower), address, size, source)
    elif kind == REFUSE:
        tell(run, KIND.pool_refuse, card, first, second, of_ticket[TICKET.bytes])
    elif kind == ANSWER:
        card = of_ticket[TICKET.card] if source else NONE
        tell(run, KIND.pool_answer, card, first, second, source)
    elif kind == RELEASE:
        tell(run, KIND.pool_release, card, first, second, address, size)
    elif kind == TAKEN_BACK:
        tell(run, KIND.pool_released, card, first, second, address)
    elif kind == TO_DRIVER:
        tell(run, KIND.pool_return, card, first, second, address, size)
    elif kind == MOVE:
        tell(run, KIND.pool_move, card, first, second, source, size)
    elif kind == HAS_MOVED:
        tell(run, KIND.pool_moved, card, first, second, source, size)


class GaugeFields(NamedTuple):
    """A row of `State.gauge`."""

    value: int
    since: int
    """When it was set last."""
    total: int
    """Its integral up to then."""
    whole: int
    """Its integral up to the makespan, as long as that comes before `since`."""


GAUGE = numbered(GaugeFields)
OF_MODULE = 2
"""Gauges of a module: of its units' files of registers, and of its own memory."""
UNITS, OWN = range(OF_MODULE)


class Means(NamedTuple):
    """The means of all gauges."""

    registers: np.ndarray
    """float64[modules], card by card: share of the free blocks outside the longest free run, over the maps of units."""
    shared: np.ndarray
    """float64[modules], the same of the module's own memory."""
    frames: np.ndarray
    """float64[places of the board], the same of a card's frames."""
    live: float
    """Bytes in use, as asked for."""
    reserved: float
    """Bytes got from the drivers."""


def gauges_of(modules: int, places: int) -> int:
    """Return the number of gauges, for so many modules and places of the board."""
    return OF_MODULE * modules + places + 2


@noinline
def note_module(run: Run, card: int, module: int) -> None:
    """Set the gauges of a module, of which something was taken or given back."""
    part, first = part_of_dispatch(run, card), (card * run.rules.modules + module) * OF_MODULE
    for which in range(OF_MODULE):
        scattered = call(run.ports.scattered_of[part], run.ports.lent[part], (module, which))
        _set(run, first + which, scattered / WHOLE_SHARE)


@noinline
def note_pool(run: Run) -> None:
    """Set the gauges of memory, with which the pool may have done something."""
    ports, part = run.ports, part_of_pool(run)
    first, places = OF_MODULE * run.rules.cards * run.rules.modules, run.rules.places
    for card in range(places):
        _set(run, first + card, call(ports.memory_of[part], ports.lent[part], (SCATTERED, card)) / WHOLE_SHARE)
    for which in (LIVE, RESERVED):
        _set(run, first + places + which, float(call(ports.memory_of[part], ports.lent[part], (which, 0))))


@noinline
def _set(run: Run, number: int, value: float) -> None:
    """Let a gauge hold another value from now on."""
    row, now, until = run.state.gauge[number], present(run), run.state.counters[COUNT.makespan]
    if row[GAUGE.since] <= until:
        row[GAUGE.whole] = row[GAUGE.total] + row[GAUGE.value] * (until - row[GAUGE.since])
    row[GAUGE.total] += row[GAUGE.value] * (now - row[GAUGE.since])
    row[GAUGE.value], row[GAUGE.since] = value, now


def means(gauge: np.ndarray, modules: int, makespan: int) -> Means:
    """Return the means of gauges from cycle 0 to a makespan; NaN where that is 0."""
    rest = makespan - gauge[:, GAUGE.since]
    whole = np.where(rest >= 0, gauge[:, GAUGE.total] + gauge[:, GAUGE.value] * rest, gauge[:, GAUGE.whole])
    mean = whole / makespan if makespan else np.full(whole.size, np.nan)
    of_modules, frames = mean[: OF_MODULE * modules].reshape(-1, OF_MODULE), mean[OF_MODULE * modules : -2]
    return Means(of_modules[:, UNITS], of_modules[:, OWN], frames, float(mean[-2]), float(mean[-1]))


CLASSES = 6
TRANSLATION_STALL, LOCK_WAIT = 6, 7
ENTERED, ACQUIRED = range(2)


@noinline
def enter(run: Run, card: int, module: int, kind: int, first: int, cycles: int, amount: int) -> None:
    """Enter something into the history of a module."""
    ports, part = run.ports, part_of_dispatch(run, card)
    answer = call(ports.enter_history[part], ports.lent[part], (module, kind, first, cycles, amount))
    if answer == FULL:
        fail(run.state.counters, FAULT.spans_full, present(run), part, NONE)
    else:
        check_answer(run, part, answer)


@noinline
def share_of_task(run: Run, task: int, amount: int) -> int:
    """Return the number of things that a task does of those that a group's W waves do in turn.

    Wave w does each W-th from number w on, so the first waves do the remainder (N9). A task is all waves of its group,
    or those of a sub-group, which follow each other.

    Parameters
    ----------
    amount : int
        What the group does in all: instructions of a class, or touches.
    """
    row = run.state.task[task]
    if row[TASK.wave] == NONE:
        return amount
    waves, sent = run.plan.waves[row[TASK.kernel]], row[TASK.waves]
    return amount // waves * sent + min(max(amount % waves - row[TASK.wave], 0), sent)


@noinline
def enter_instructions(run: Run, task: int, phase: int, cycles: int) -> None:
    """Enter what a task executes in a phase that begins now."""
    row = run.state.task[task]
    for kind in range(CLASSES):
        amount = share_of_task(run, task, run.plan.instructions[phase * CLASSES + kind])
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


WINDOW = 1024
"""Cycles, where heat is not simulated."""
ROWS = 1 << 12


@noinline
def spend(run: Run, card: int, module: int, kind: int, first: int, cycles: int, amount: int) -> None:
    """Count instructions of a class that a module executes evenly from a cycle on for so many cycles."""
    if run.rules.power == 0 or amount == 0:
        return
    lasts, energy = max(cycles, 1), amount * run.state.picojoules[kind]
    end, column = first + lasts, card * run.rules.modules + module
    while (end - 1) // run.state.counters[COUNT.window] >= run.state.spent.shape[0]:
        _join_windows(run)
    window = run.state.counters[COUNT.window]
    for row in range(first // window, (end - 1) // window + 1):
        within = min(end, (row + 1) * window) - max(first, row * window)
        run.state.spent[row, column] += energy * within / lasts


def energy_by_window(spent: np.ndarray, window: int, makespan: int) -> tuple[np.ndarray, int]:
    """Return the energy in each window of a run, and a window's cycles: modules may be idle long after the last energy.

    >>> energy_by_window(np.array([[1.0], [2.0]]), 10, 35)
    (array([[3.],
           [0.]]), 20)
    """
    while makespan > window * len(spent):
        spent, window = np.concatenate((spent[::2] + spent[1::2], np.zeros_like(spent[::2]))), window * 2
    return spent[: -(-makespan // window)].copy(), window


@noinline
def _join_windows(run: Run) -> None:
    """Let every two windows be one."""
    spent = run.state.spent
    rows, columns = spent.shape
    # In place: row k is made of rows 2k and 2k + 1, so no row is written before it was read.
    for row in range(rows):
        for column in range(columns):
            joined = 0.0
            if 2 * row + 1 < rows:
                joined = spent[2 * row, column] + spent[2 * row + 1, column]
            spent[row, column] = joined
    run.state.counters[COUNT.window] *= 2
