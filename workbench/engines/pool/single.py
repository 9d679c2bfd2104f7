"""What the loop does with one request, to be called from plain Python; and what takes a request's grant back.

Each takes the arrays of a run as one tuple by reference, so that `bound` can fill it in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from workbench.compiled import bound, routine
from workbench.engines.pool.blocks import from_driver, give, return_to_driver, use
from workbench.engines.pool.loop import allocate, free
from workbench.engines.pool.state import COUNT, Columns, Policies, Rules, State, Tables
from workbench.policies.pool.cache import APART
from workbench.structures.size_index import ADDRESS, AFTER, FIELDS, NONE, ORIGIN

RELEASE = 0
"""The row of a release; an allocation has the row above 0 that its region keeps until it is released."""


class Run(NamedTuple):
    """The arrays of a run, as one."""

    columns: Columns
    tables: Tables
    rules: Rules
    policies: Policies
    state: State


@routine
def allocate_one(run: Run, row: int) -> None:
    """Serve the request in a row."""
    state = run.state
    state.counters[COUNT.calls], state.counters[COUNT.lendings] = 0, 0
    state.block[row], state.taken[row] = NONE, 0
    allocate(run.columns, run.tables, run.rules, run.policies, state, row)


@routine
def free_one(run: Run, row: int) -> None:
    """Release what a row was granted."""
    run.state.counters[COUNT.calls] = 0
    run.columns.names[RELEASE] = row
    free(run.columns, run.tables, run.rules, run.policies, run.state, RELEASE)


@routine
def take_back_one(run: Run, row: int) -> None:
    """Undo a grant that the driver served."""
    state = run.state
    block = int(state.block[row])
    origin = int(state.blocks.nodes[block * FIELDS + ORIGIN])
    state.counters[COUNT.calls] = 0
    give(run.rules, state, int(state.pool[origin]), block)
    return_to_driver(run.rules, state, row, origin)


@routine
def segment(run: Run, pool: int, size: int) -> int:
    """Take a new driver allocation; return its one block."""
    run.state.counters[COUNT.calls] = 0
    return from_driver(run.rules, run.state, RELEASE, pool, size)


@routine
def cut(run: Run, pool: int, block: int, size: int, fresh: int) -> None:
    """Put the lower part of a block to use; `fresh` = it was never cached."""
    use(run.rules, run.state, pool, block, size, fresh != 0)


@routine
def uncut(run: Run, pool: int, block: int) -> None:
    """Cache a block that was in use."""
    give(run.rules, run.state, pool, block)


def lay_out(run: Run, pool: int, pieces: Sequence[tuple[int, bool]]) -> tuple[int, list[int]]:
    """Return a driver allocation that is cut already: each piece with its bytes, and whether it is in use.

    Every piece is put to use first, and then those that are not are given back, whatever the cache would do.

    Returns
    -------
    address : int
    blocks : list of int
        Those that are in use, in the order of the pieces.
    """
    plain = run.rules._replace(halves=0, joins=APART, least_rest=1, small_least_rest=1, relative_rest=0)
    run = run._replace(rules=plain)
    part, cache, nodes = bound(cut, run), bound(uncut, run), run.state.blocks.nodes
    first = block = bound(segment, run)(pool, sum(size for size, _ in pieces))
    blocks = []
    for size, _ in pieces:
        part(pool, block, size, block == first)
        blocks.append(block)
        block = int(nodes[block * FIELDS + AFTER])
    for block, (_, in_use) in zip(blocks, pieces, strict=True):
        if not in_use:
            cache(pool, block)
    used = [block for block, (_, in_use) in zip(blocks, pieces, strict=True) if in_use]
    return int(nodes[first * FIELDS + ADDRESS]), used
