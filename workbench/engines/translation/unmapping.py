"""A core unmaps a page: it leaves every TLB, and what is under way of it fills nothing (spec 4, E15, T12)."""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.far_filling import drop_far
from workbench.engines.translation.filling import SILENT
from workbench.engines.translation.knowing import forget_beliefs, forget_records
from workbench.engines.translation.registers import kill_misses
from workbench.engines.translation.scheduling import KIND, wake
from workbench.engines.translation.shooting_down import invalidate, shoot_down_others
from workbench.engines.translation.state import Run
from workbench.engines.translation.walking import hide_walk
from workbench.structures import event_queue as at
from workbench.structures.bitmaps import FIRST_WORD, NOBODY, next_core


@noinline
def unmap(run: Run, core: int, page: int, key: int, row: int, now: int) -> None:
    """Take a page out of the TLBs that the core reaches at once, tell the others, and wait for their answers."""
    state = run.state
    state.counters[COUNT.shootdowns] += 1
    state.acks[core] = shoot_down_others(run, core, page, key, row, now)
    invalidate(run, core, page, key, row, now, SILENT)
    forget_beliefs(run, core, page)
    _forget_everywhere(run, page, key)
    if state.acks[core] > 0:
        state.halted[core] = 1


@noinline
def unmap_everywhere(run: Run, page: int, key: int, row: int, now: int) -> int:
    """Take a page out of every TLB at once, as somebody else decides who is told (spec 6, R11); return how many private
    TLBs held it."""
    rules, state = run.rules, run.state
    state.counters[COUNT.shootdowns] += 1
    before = state.counters[COUNT.shot_down]
    core = next_core(state.held, page * rules.words, rules.words, FIRST_WORD)
    while core != NOBODY:
        invalidate(run, core, page, key, row, now, SILENT)
        core = next_core(state.held, page * rules.words, rules.words, core + 1)
    if rules.beliefs:
        for core in range(rules.cores):
            forget_beliefs(run, core, page)
    _forget_everywhere(run, page, key)
    return state.counters[COUNT.shot_down] - before


@noinline
def _forget_everywhere(run: Run, page: int, key: int) -> None:
    """Take a page out of what is behind the private TLBs, and let what is under way of it fill nothing."""
    forget_records(run, page)
    drop_far(run, page, key)
    kill_misses(run, page)
    hide_walk(run, page)
    if not run.rules.fills_always:
        _kill_copies(run, page)


@noinline
def _kill_copies(run: Run, page: int) -> None:
    """Mark the copies of a page that are on their way to peers."""
    events = run.state.agenda.events
    for here in range(0, events.size, at.EVENT):
        if events[here + at.WHAT] == KIND.copy and events[here + at.PAGE] == page:
            events[here + at.NOTE] = 1


@noinline
def acknowledgement_arrives(run: Run, core: int, now: int) -> None:
    """Let a core go on when every core that it told has answered."""
    run.state.acks[core] -= 1
    if run.state.acks[core] == 0:
        wake(run, core, now, now)
