"""What the instructions of modules cost, by windows of time (spec 3, R78; spec 6, section 7).

There are `ROWS` windows at most, of `WINDOW` cycles each, or of a step of the thermal model. A run that outlasts them
goes on with windows of twice the length.
"""

from __future__ import annotations

from workbench.compiled import noinline
from workbench.engines.node.state import COUNT, Run

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


@noinline
def _join_windows(run: Run) -> None:
    """Let every two windows be one."""
    spent = run.state.spent
    rows, columns = spent.shape
    for row in range(rows):
        for column in range(columns):
            joined = 0.0
            if 2 * row + 1 < rows:
                joined = spent[2 * row, column] + spent[2 * row + 1, column]
            spent[row, column] = joined
    run.state.counters[COUNT.window] *= 2
