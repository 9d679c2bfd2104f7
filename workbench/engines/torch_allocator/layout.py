"""What there is at the beginning: segments with their blocks and holes, where they lie."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import by_reference, kernel, routine
from workbench.engines.torch_allocator.blocks import cache, new_block, note_unmapped, put, put_after
from workbench.engines.torch_allocator.state import AWAITED, BORN, CACHED, KIND, RESERVED, UNMAPPED, Rules, State
from workbench.structures.size_index import NONE


class Start(NamedTuple):
    """Every block at the beginning, segment by segment, the lowest address of each first; one row a block."""

    address: np.ndarray
    size: np.ndarray
    pool: np.ndarray
    """int64[blocks], twice the number of the owner, and 1 more of small requests."""
    base: np.ndarray
    """int64[blocks], the first address of the expandable segment, -1 = a segment of its own."""
    kind: np.ndarray
    """int64[blocks], `CACHED`, `IN_USE`, `AWAITED` or `UNMAPPED`."""
    handle: np.ndarray
    """int64[blocks], the number by which requests know a block, -1 = by none."""
    first: np.ndarray
    """int64[blocks], 1 = the lowest of its segment."""


NOTHING = Start(*(np.zeros(0, np.int64) for _ in Start._fields))
"""An allocator that holds nothing."""


@routine
def lay_out(start: Start, rules: Rules, state: State) -> None:
    """Enter the blocks of the beginning."""
    given, levers, now = by_reference(start), by_reference(rules), by_reference(state)
    before = NONE
    for row in range(start.address.size):
        block = new_block(now, given.pool[row], given.address[row], given.size[row], given.base[row])
        if given.first[row] == 0:
            put_after(now, block, before)
        enter(given, levers, now, row, block)
        before = block


@kernel
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
