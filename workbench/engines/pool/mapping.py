"""Calls of the driver that map addresses to memory: of pages, and of blocks that are stitched."""

from __future__ import annotations

from workbench.compiled import kernel
from workbench.engines.pool.state import DRIVER_NS, Rules, State
from workbench.structures.size_index import FIELDS, NONE, SIZE


@kernel
def note_mappings(rules: Rules, state: State, row: int, calls: int) -> None:
    """Count calls for a request, and their time."""
    state.mappings[row] += calls
    state.counters[DRIVER_NS] += rules.map_ns * calls


@kernel
def unstitch(rules: Rules, state: State, row: int, of: int) -> None:
    """Unmap a region that a request releases or moves, where it is put together of several blocks."""
    if state.stitched[of]:
        note_stitching(rules, state, row, int(state.block[of]), 0)
        state.stitched[of] = False


@kernel
def note_stitching(rules: Rules, state: State, row: int, block: int, per_piece: int) -> None:
    """Each part of a stitched region takes a call for each of its chunks, and so many more."""
    while block != NONE:
        chunks = -(-state.blocks.nodes[block * FIELDS + SIZE] // rules.chunk)
        note_mappings(rules, state, row, chunks + per_piece)
        block = int(state.piece[block])
