"""The network between cores: how many routers apart two of them are, and the way of a message over links."""

from __future__ import annotations

import math

import numpy as np

from workbench.compiled import apart, kernel
from workbench.engines.translation.shape import CROSSBAR, MESH
from workbench.engines.translation.state import NOC_QUEUED, NOC_TRIPS, Run
from workbench.structures.calendar import book, first_free

EAST, WEST, NORTH, SOUTH = range(4)
DIRECTIONS = 4
"""Links that leave a router; a ring uses two of them, a crossbar one, which enters the core."""


def mesh_columns(cores: int) -> int:
    """Columns of the mesh: the least square that has room for the cores; the last row may be shorter.

    >>> mesh_columns(16), mesh_columns(80)
    (4, 9)
    """
    return math.isqrt(cores - 1) + 1 if cores > 1 else 1


def hop_table(network: int, cores: int) -> np.ndarray:
    """Links between every two cores: int64[cores * cores].

    A mesh goes along the row first, then along the column; a ring the shorter way; a crossbar takes one link.

    >>> hop_table(MESH, 4).reshape(4, 4)[0].tolist()
    [0, 1, 1, 2]
    """
    one = np.arange(cores)
    if network == MESH:
        row, column = np.divmod(one, mesh_columns(cores))
        apart = abs(row[:, None] - row) + abs(column[:, None] - column)
    elif network == CROSSBAR:
        apart = (one[:, None] != one).astype(np.int64)
    else:
        ahead = (one - one[:, None]) % cores
        apart = np.minimum(ahead, cores - ahead)
    return np.ascontiguousarray(apart, np.int64).reshape(-1)


@kernel
def travel(run: Run, issue: int, sender: int, receiver: int, at: int) -> int:
    """The cycle at which a message that leaves at one cycle arrives; it may wait for links."""
    rules, state = run.rules, run.state
    state.counters[NOC_TRIPS] += 1
    if rules.link_cycles == 0:
        return at + state.hops[sender * rules.cores + receiver] * rules.hop_cycles
    return _over_links(run, issue, sender, receiver, at)


@apart
def _over_links(run: Run, issue: int, sender: int, receiver: int, at: int) -> int:
    rules, state = run.rules, run.state
    began, here = at, sender
    while here != receiver:
        link, here = _next_link(run, here, receiver)
        start = first_free(state.links, link, issue, at, rules.link_cycles)
        book(state.links, link, start, rules.link_cycles)
        at = start + rules.hop_cycles
    waited = at - began - state.hops[sender * rules.cores + receiver] * rules.hop_cycles
    state.counters[NOC_QUEUED] += waited
    return at


@kernel
def _next_link(run: Run, here: int, receiver: int) -> tuple[int, int]:
    """The link to take from a router toward another, and the router at its end."""
    rules = run.rules
    if rules.network == CROSSBAR:
        return receiver * DIRECTIONS, receiver
    if rules.network == MESH:
        column, target = here % rules.columns, receiver % rules.columns
        row, goal = here // rules.columns, receiver // rules.columns
        if column != target and row * rules.columns + target < rules.cores:  # the last row may end before
            step = 1 if target > column else -1
            return here * DIRECTIONS + (EAST if step > 0 else WEST), here + step
        step = 1 if goal > row else -1
        return here * DIRECTIONS + (SOUTH if step > 0 else NORTH), here + step * rules.columns
    ahead = (receiver - here) % rules.cores
    step = 1 if 2 * ahead <= rules.cores else -1
    return here * DIRECTIONS + (EAST if step > 0 else WEST), (here + step) % rules.cores
