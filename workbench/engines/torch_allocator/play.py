"""From requests and settings to what the allocator did with them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import bound
from workbench.engines.torch_allocator.layout import lay_out
from workbench.engines.torch_allocator.loop import simulate
from workbench.engines.torch_allocator.state import (
    CALLS,
    FIRST_REFUSED,
    FLUSHES,
    MAPPED,
    NEEDS_ROOM,
    NEXT_ADDRESS,
    REFUSED,
    RESERVED,
    ROUND_LARGE,
    STATUS,
    Requests,
    Rules,
    Run,
    Start,
    State,
    Supply,
    new_state,
    roomier,
)


class Played(NamedTuple):
    """What an allocator did with requests."""

    placed: np.ndarray
    """int64[rows], the address of what was granted, -1 = nothing was."""
    reserved: np.ndarray
    """int64[rows], bytes got from the driver after each row."""
    calls: np.ndarray
    """int64[calls, 4]: row, address, bytes (below zero = given back), pages (0 = a segment of its own)."""
    reserved_at_start: int
    refused: int
    first_refused: int
    """The row of the first request that was not served, -1 = all were."""
    flushes: int
    """How often all cached memory went back because the driver had too little."""
    pages_mapped: int

    @property
    def reserved_peak(self) -> int:
        """Return the most bytes got from the driver, the beginning included."""
        grown = np.cumsum(self.calls[:, 2]).max(initial=0) if len(self.calls) else 0
        return self.reserved_at_start + max(int(grown), 0)


NO_SUPPLY = Supply(*(np.zeros(0, np.int64) for _ in Supply._fields))
"""Nothing is known of where the driver gives memory."""


def play(
    requests: Requests, rules: Rules, start: Start, supply: Supply = NO_SUPPLY, start_address: int | None = None
) -> Played:
    """Serve requests from a layout on.

    Parameters
    ----------
    requests : Requests
        In the order in which the application made them.
    rules : Rules
        The settings; see `AllocatorSettings.rules`.
    start : Start
        What there is at the beginning.
    supply : Supply
        Where the driver gives segments, as far as it is known; elsewhere it gives rising addresses.
    start_address : int, optional
        The first address of which nothing is known; above every known one by default.
    """
    privates = int(rules.private.max(initial=0)) + 1
    blocks = max(4 * len(start.address) + 256, 1024)
    handles = int(max(requests.handle.max(initial=-1), start.handle.max(initial=-1))) + 1
    state = new_state(rules.private.size, privates, requests.kind.size, handles, blocks)
    address = _first_unknown(start, supply) if start_address is None else start_address
    state.counters[NEXT_ADDRESS] = -(-address // ROUND_LARGE) * ROUND_LARGE
    run = Run(start, requests, supply, rules, state)
    bound(lay_out, run)()
    reserved_at_start = int(state.counters[RESERVED])
    state = _simulated(run)
    counters = state.counters
    return Played(
        placed=state.placed,
        reserved=state.reserved,
        calls=state.calls[: counters[CALLS]].copy(),
        reserved_at_start=reserved_at_start,
        refused=int(counters[REFUSED]),
        first_refused=int(counters[FIRST_REFUSED]),
        flushes=int(counters[FLUSHES]),
        pages_mapped=int(counters[MAPPED]),
    )


def _simulated(run: Run) -> State:
    """Run to the end, in larger arrays whenever there are more blocks than expected."""
    bound(simulate, run)()
    while run.state.counters[STATUS] == NEEDS_ROOM:
        run = run._replace(state=roomier(run.state))
        bound(simulate, run)()
    return run.state


def _first_unknown(start: Start, supply: Supply) -> int:
    """Return the first address above all that are known."""
    ends = [(part.address + part.size).max(initial=0) for part in (start, supply)]
    return int(max(ends))
