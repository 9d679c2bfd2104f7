"""Calls of the driver that map addresses to memory: of pages, and of blocks that are stitched."""

from __future__ import annotations

from workbench.compiled import kernel
from workbench.engines.pool.state import COUNT, Rules, State
from workbench.structures.size_index import FIELDS, NONE, SIZE


@kernel
def note_mappings(rules: Rules, state: State, row: int, calls: int) -> None:
    """Count calls for a request, and their time."""
    state.mappings[row] += calls
    state.counters[COUNT.driver_ns] += rules.map_ns * calls


@kernel
def note_stitching(rules: Rules, state: State, row: int, block: int, per_piece: int) -> None:
    """Count, for each of several parts, a call for each of its chunks, and so many more; a region in one part takes
    none."""
    if state.piece[block] == NONE:
        return
    while block != NONE:
        chunks = -(-state.blocks.nodes[block * FIELDS + SIZE] // rules.chunk)
        note_mappings(rules, state, row, chunks + per_piece)
        block = int(state.piece[block])
