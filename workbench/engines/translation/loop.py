"""The compiled loops of the engine `translation`: accesses in the order of the trace, or as warps become free.

A stretch of a loop ends when its rows are served, when more rows must be known, when an array must grow, or when a
policy has broken its contract; it goes on from there as if it had not been left.
"""

from __future__ import annotations

from workbench.compiled import apart, kernel, lend
from workbench.engines.translation.serving import sample, serve, unmap
from workbench.engines.translation.state import (
    FINE,
    FIRST_CYCLE,
    LAST_CYCLE,
    LOGGED,
    NEEDS_ROOM,
    NEEDS_ROWS,
    PENDING,
    ROW,
    STARTED,
    STATUS,
    STREAM_CYCLE,
    Run,
)

EVENT_COLUMNS, NEWS_COLUMNS = 7, 4
UNKNOWN = -1
NEVER = 1 << 62


@kernel
def most_rows(cores: int) -> int:
    """Events, and news for directories, that one access can bring about, at most."""
    return 8 * cores + 16


@kernel
def play_in_order(run: Run) -> None:
    """Serve every row at its cycle."""
    _play_in_order(lend(run))


@apart
def _play_in_order(run: Run) -> None:
    counters, rows = run.state.counters, run.rows
    row, end = counters[ROW], rows.cycle.size
    watched = run.rules.keeps_log or run.rules.beliefs
    while row < end and counters[STATUS] == FINE:
        if watched and not _has_room(run):
            counters[STATUS] = NEEDS_ROOM
            break
        _serve_row(run, row, rows.cycle[row])
        row += 1
    counters[ROW] = row


@kernel
def _has_room(run: Run) -> bool:
    most = most_rows(run.rules.cores)
    log = not run.rules.keeps_log or run.state.counters[LOGGED] + most <= run.state.log.size // EVENT_COLUMNS
    news = not run.rules.beliefs or run.state.counters[PENDING] + most <= run.state.pending.size // NEWS_COLUMNS
    return log and news


@apart
def _serve_row(run: Run, row: int, issue: int) -> int:
    """Serve a row that is issued at a cycle; when it is done."""
    rows, counters = run.rows, run.state.counters
    if not counters[STARTED]:
        counters[STARTED], counters[FIRST_CYCLE], counters[LAST_CYCLE] = 1, issue, issue
    core, page, key = int(rows.core[row]), int(rows.number[row]), rows.key[row]
    if rows.unmap.size and rows.unmap[row]:
        unmap(run, core, page, key, issue)
        return issue
    return serve(run, core, page, key, rows.page[row], issue)


@kernel
def play_warps(run: Run, ended: bool) -> None:
    """Serve rows as warps become free, until a core's next row must be known; `ended` = no more rows will come."""
    _play_warps(lend(run), ended)


@apart
def _play_warps(run: Run, ended: bool) -> None:
    counters, rows, turn = run.state.counters, run.rows, run.state.turn
    _line_up(run, ended)
    while counters[STATUS] == FINE and turn[0] != NEVER:
        core = turn[1]
        row = run.state.next_row[core]
        if row == UNKNOWN:
            counters[STATUS] = NEEDS_ROWS
            return
        if not _has_room(run):
            counters[STATUS] = NEEDS_ROOM
            return
        done = _serve_row(run, row, turn[0])
        again = done if rows.unmap.size and rows.unmap[row] else done + run.rules.gap_cycles
        _occupy(run, core, again)
        run.state.next_row[core] = rows.following[row]
        turn[0] = _next_issue(run, core, ended)
        _sink(turn, run.rules.cores, 0)


@kernel
def _next_issue(run: Run, core: int, ended: bool) -> int:
    """When a core issues its next row; where it is not known yet, not before the cycle that is returned."""
    state, row = run.state, run.state.next_row[core]
    free = state.warps[core * run.rules.warps]
    if row == UNKNOWN:
        return NEVER if ended else max(free, state.counters[STREAM_CYCLE])
    return max(free, run.rows.cycle[row])


@apart
def _line_up(run: Run, ended: bool) -> None:
    """Make the heap of cores, by the cycle of their next issue, then by number."""
    turn, cores = run.state.turn, run.rules.cores
    for core in range(cores):
        turn[2 * core], turn[2 * core + 1] = _next_issue(run, core, ended), core
    for at in range(cores // 2 - 1, -1, -1):
        _sink(turn, cores, at)


@kernel
def _sink(turn, cores: int, at: int) -> None:  # type: ignore[no-untyped-def]
    child = 2 * at + 1
    while child < cores:
        if child + 1 < cores and _sooner(turn, child + 1, child):
            child += 1
        if not _sooner(turn, child, at):
            return
        for k in range(2):
            turn[2 * at + k], turn[2 * child + k] = turn[2 * child + k], turn[2 * at + k]
        at, child = child, 2 * child + 1


@kernel
def _sooner(turn, one: int, other: int) -> bool:  # type: ignore[no-untyped-def]
    if turn[2 * one] != turn[2 * other]:
        return turn[2 * one] < turn[2 * other]
    return turn[2 * one + 1] < turn[2 * other + 1]


@kernel
def _occupy(run: Run, core: int, until: int) -> None:
    """The warp of a core that is free first is busy until a cycle."""
    warps, first, count = run.state.warps, core * run.rules.warps, run.rules.warps
    at, child = 0, 1
    while child < count:
        if child + 1 < count and warps[first + child + 1] < warps[first + child]:
            child += 1
        if warps[first + child] >= until:
            break
        warps[first + at] = warps[first + child]
        at, child = child, 2 * child + 1
    warps[first + at] = until


@kernel
def last_sample(run: Run) -> None:
    """Look at who shares what once more, at the end."""
    sample(lend(run))


@kernel
def link_rows(core, following, next_row) -> None:  # type: ignore[no-untyped-def]
    """The row behind each in its core's order, and the first of each core: -1 = not known."""
    for at in range(next_row.size):
        next_row[at] = UNKNOWN
    for row in range(core.size - 1, -1, -1):
        following[row] = next_row[core[row]]
        next_row[core[row]] = row


@kernel
def first_bad_row(cycle, core, page, after: int, cores: int, pages: int) -> int:  # type: ignore[no-untyped-def]
    """The first row whose cycle goes back, or whose core or page does not exist; -1 = all are right."""
    for row in range(cycle.size):
        if cycle[row] < after or core[row] < 0 or core[row] >= cores or page[row] < 0 or page[row] >= pages:
            return row
        after = cycle[row]
    return UNKNOWN
