"""What there is at the beginning: segments with their blocks and holes, where they lie."""

from __future__ import annotations

from workbench.compiled import entry_point, inlined
from workbench.engines.torch_allocator.blocks import cache, new_block, note_unmapped, put, put_after
from workbench.engines.torch_allocator.state import (
    AWAITED,
    BORN,
    CACHED,
    KIND,
    RESERVED,
    UNMAPPED,
    Rules,
    Run,
    Start,
    State,
)
from workbench.structures.size_index import NONE


@entry_point
def lay_out(run: Run) -> None:
    """Enter the blocks of the beginning."""
    start, state, before = run.start, run.state, NONE
    for row in range(start.address.size):
        block = new_block(state, start.pool[row], start.address[row], start.size[row], start.base[row])
        if start.first[row] == 0:
            put_after(state, block, before)
        enter(start, run.rules, state, row, block)
        before = block


@inlined
def enter(start: Start, rules: Rules, state: State, row: int, block: int) -> None:
    """Make a block what it is at the beginning."""
    kind, handle = start.kind[row], start.handle[row]
    if kind == CACHED:
        cache(rules, state, block)
    elif kind == UNMAPPED:
        note_unmapped(state, block)
    else:
        put(state, block, KIND, kind)
    if kind == AWAITED:
        put(state, block, BORN, handle)
    if handle != NONE:
        state.block_of[handle] = block
    if kind != UNMAPPED:
        state.counters[RESERVED] += start.size[row]
