"""Segments: got from the driver and given back."""

from __future__ import annotations

from workbench.compiled import inlined, kernel, noinline
from workbench.engines.torch_allocator.blocks import forget, get, new_block, uncache
from workbench.engines.torch_allocator.state import (
    CALLS,
    NEXT_ADDRESS,
    RESERVED,
    ROUND_LARGE,
    ROW,
    SUPPLY,
    Rules,
    State,
    Supply,
)
from workbench.structures.size_index import ADDRESS, NONE, SIZE


@kernel
def called(state: State, address: int, size: int, pages: int) -> None:
    """Write down a call of the driver."""
    counters = state.counters
    log = state.calls[counters[CALLS]]
    log[0], log[1], log[2], log[3] = counters[ROW], address, size, pages
    counters[CALLS] += 1
    counters[RESERVED] += size


@kernel
def fresh_address(state: State, size: int) -> int:
    """Return where the driver gives memory of which nothing is known: above all that it gave."""
    address = state.counters[NEXT_ADDRESS]
    state.counters[NEXT_ADDRESS] += -(-size // ROUND_LARGE) * ROUND_LARGE
    return int(address)


@noinline
def supplied(supply: Supply, state: State, size: int) -> int:
    """Return where the recorded driver gave a segment of this size for this row, -1 = it gave none."""
    counters = state.counters
    at = counters[SUPPLY]
    while at < supply.row.size and supply.row[at] <= counters[ROW]:
        if supply.row[at] == counters[ROW] and (supply.size[at] == size or size == NONE):
            counters[SUPPLY] = at + 1
            return int(supply.address[at])
        at += 1
    return NONE


@inlined
def new_segment(rules: Rules, supply: Supply, state: State, pool: int, size: int) -> int:
    """Return a segment as one block that is in use, -1 = the card has too little (cudaMalloc)."""
    if state.counters[RESERVED] + size > rules.card:
        return NONE
    address = supplied(supply, state, size)
    if address == NONE:
        address = fresh_address(state, size)
    called(state, address, size, 0)
    return int(new_block(state, pool, address, size, NONE))


@noinline
def give_back(state: State, block: int) -> None:
    """Give a free segment back (cudaFree)."""
    uncache(state, block)
    called(state, get(state, block, ADDRESS), -get(state, block, SIZE), 0)
    forget(state, block)
