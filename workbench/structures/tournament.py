"""A tournament over a fixed number of times: which comes first? The lowest place wins a tie.

For a few to some thousand things of which each has one time that may move both ways: the arenas of a heap.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel

NEVER = 1 << 62
"""A time after all others."""


def new_tournament(places: int) -> np.ndarray:
    """Make a tournament in which nothing is due: int64[2 leaves], leaf k at leaves + k, the earliest time at 1."""
    leaves = 1
    while leaves < places:
        leaves *= 2
    return np.full(2 * leaves, NEVER)


@kernel
def set_time(tournament: np.ndarray, place: int, time: int) -> None:
    """Say when a place is due."""
    node = tournament.size // 2 + place
    tournament[node] = time
    while node > 1:
        node >>= 1
        tournament[node] = min(tournament[2 * node], tournament[2 * node + 1])


@kernel
def first_place(tournament: np.ndarray) -> int:
    """Return the place that is due first."""
    node, leaves = 1, tournament.size // 2
    while node < leaves:
        node *= 2
        if tournament[node] > tournament[node >> 1]:
            node += 1
    return node - leaves
