"""Turns: which of a fixed number of parties is due first? Of those due at the same time, the lowest number.

For processes that ask one thing after another, each with one time and one number at a time: the number of a request
tells its party, so that the root of the tree is the whole answer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.compiled import kernel
from workbench.structures.tournament import NEVER


class Turns(NamedTuple):
    """A tournament of pairs; party k at leaves + k, the first of all at 1."""

    time: np.ndarray
    """int64[2 leaves], when the first of a subtree is due; `NEVER` = nobody in it is."""
    number: np.ndarray
    """int64[2 leaves], its number."""


def new_turns(parties: int) -> Turns:
    """Make turns in which nobody is due."""
    leaves = 1 << max(parties - 1, 0).bit_length()
    return Turns(np.full(2 * leaves, NEVER), np.zeros(2 * leaves, np.int64))


@kernel
def set_turn(turns: Turns, party: int, time: int, number: int) -> None:
    """Say when a party is due, and with which number."""
    node = turns.time.size // 2 + party
    turns.time[node], turns.number[node] = time, number
    while node > 1:
        node >>= 1
        one, other = 2 * node, 2 * node + 1
        if _is_before(turns, other, one):
            one = other
        turns.time[node], turns.number[node] = turns.time[one], turns.number[one]


@kernel
def _is_before(turns: Turns, one: int, other: int) -> bool:
    """Return whether a node is due before another."""
    sooner = turns.time[one] < turns.time[other]
    return bool(sooner or (turns.time[one] == turns.time[other] and turns.number[one] < turns.number[other]))
