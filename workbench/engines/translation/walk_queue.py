"""The walks that wait for a walker: a list in the order of entry, from which any may be taken (spec 4, T6)."""

from __future__ import annotations

from workbench.compiled import kernel, noinline
from workbench.engines.translation.counters import COUNT
from workbench.engines.translation.shape import LARGE_BITS, LEVEL_BITS
from workbench.engines.translation.state import MISS, Run
from workbench.engines.translation.under_way import OF
from workbench.structures.set_assoc import NONE


@kernel
def link_last(run: Run, head: int, last: int, miss: int) -> None:
    """Put a request at the end of a list whose last is given."""
    if last == NONE:
        run.state.counters[head] = miss
    else:
        run.state.misses[last * MISS + OF.behind] = miss
    run.state.misses[miss * MISS + OF.behind] = NONE


@kernel
def take_from_queue(run: Run, before: int, miss: int) -> None:
    """Take a walk out of the queue; `before` is the one before it, or none."""
    counters, misses = run.state.counters, run.state.misses
    after = misses[miss * MISS + OF.behind]
    if before == NONE:
        counters[COUNT.queue_head] = after
    else:
        misses[before * MISS + OF.behind] = after
    if after == NONE:
        counters[COUNT.queue_tail] = before
    counters[COUNT.queue_length] -= 1


@noinline
def first_like(run: Run, ended: int) -> tuple[int, int]:
    """Return the walk that whoever ended one prefers, and the one before it; none where none is like it.

    A walker prefers the first of the same node of the page table, a core the first that its own requests opened.
    """
    misses, before, miss = run.state.misses, NONE, run.state.counters[COUNT.queue_head]
    in_software = misses[ended * MISS + OF.batch] == 0
    while miss != NONE:
        if _is_own(run, ended, miss) if in_software else _is_of_node(run, ended, miss):
            break
        before, miss = miss, misses[miss * MISS + OF.behind]
    return before, miss


@kernel
def _is_own(run: Run, ended: int, miss: int) -> bool:
    return bool(run.state.misses[ended * MISS + OF.core] == run.state.misses[miss * MISS + OF.core])


@kernel
def _is_of_node(run: Run, ended: int, miss: int) -> bool:
    """Return whether two walks share a node of the page table, which leaves as many levels to read."""
    misses, one, two = run.state.misses, ended * MISS, miss * MISS
    saved = levels_saved(run, misses[one + OF.key])
    shift = LEVEL_BITS * (run.rules.batch_level + saved)
    if saved != levels_saved(run, misses[two + OF.key]):
        return False
    return bool(misses[one + OF.name] >> shift == misses[two + OF.name] >> shift)


@kernel
def levels_saved(run: Run, key: int) -> int:
    """Return the levels that a walk of a large page does not read."""
    return (run.rules.levels_saved >> (2 * (key >> LARGE_BITS))) & 3
