"""Warps of cores: which is free first, and when its core issues its next row (the closed loop, spec 4, H4.6)."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.state import Run
from workbench.structures.timetable import NEVER, set_turn

UNKNOWN = -1


@inlined
def release_warp(run: Run, core: int, done: int, now: int) -> None:
    """Let the warp whose access is answered at a cycle issue again, where warps wait for answers."""
    if run.rules.warps:
        _release(run, core, done + run.rules.gap_cycles, now)


@noinline
def _release(run: Run, core: int, free: int, now: int) -> None:
    warps, first, at = run.state.warps, core * run.rules.warps, run.state.warps_free[core]
    run.state.warps_free[core] += 1
    while at > 0 and free < warps[first + (at - 1) // 2]:
        warps[first + at] = warps[first + (at - 1) // 2]
        at = (at - 1) // 2
    warps[first + at] = free
    if not run.state.halted[core]:
        line_up(run, core, now)


@noinline
def occupy_warp(run: Run, core: int) -> None:
    """Take the warp of a core that is free first."""
    warps, first = run.state.warps, core * run.rules.warps
    run.state.warps_free[core] -= 1
    count = run.state.warps_free[core]
    moved, at, child = warps[first + count], 0, 1
    while child < count:
        if child + 1 < count and warps[first + child + 1] < warps[first + child]:
            child += 1
        if warps[first + child] >= moved:
            break
        warps[first + at] = warps[first + child]
        at, child = child, 2 * child + 1
    warps[first + at] = moved


@kernel
def could_issue(run: Run, core: int) -> int:
    """Return the cycle from which a core could issue its next row; where that is not known yet, it is not before."""
    state, row = run.state, run.state.next_row[core]
    if state.warps_free[core] == 0:
        return NEVER
    free = state.warps[core * run.rules.warps]
    if row == UNKNOWN:
        return NEVER if state.counters[COUNT.ended] else max(free, state.counters[COUNT.stream_cycle])
    return max(free, run.rows.cycle[row])


@noinline
def line_up(run: Run, core: int, now: int) -> None:
    """Say when a core issues its next row: not while it waits."""
    at = NEVER if run.state.halted[core] else max(could_issue(run, core), now)
    set_turn(run.state.turns, core, at, core)
