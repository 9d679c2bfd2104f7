"""Short lists of whole numbers in the memory of a policy: a count, then the numbers, the oldest first.

They hold ways, or the pages of entries that are gone. Everything takes time with the length of a list.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel


@kernel
def position(memory: np.ndarray, at: int, number: int) -> int:
    """Return where a number stands in the list that begins at an index, -1 where it does not."""
    for place in range(memory[at]):
        if memory[at + 1 + place] == number:
            return place
    return -1


@kernel
def append(memory: np.ndarray, at: int, number: int) -> None:
    """Put a number behind the last, for which the list has room."""
    memory[at] += 1
    memory[at + memory[at]] = number


@kernel
def remove_at(memory: np.ndarray, at: int, place: int) -> None:
    """Take the number at a place out; those behind it move up."""
    memory[at] -= 1
    for index in range(at + 1 + place, at + 1 + memory[at]):
        memory[index] = memory[index + 1]


@kernel
def remove_number(memory: np.ndarray, at: int, number: int) -> bool:
    """Take a number out, and return whether it was there."""
    place = position(memory, at, number)
    if place >= 0:
        remove_at(memory, at, place)
    return place >= 0


@kernel
def append_forgetting(memory: np.ndarray, at: int, room: int, number: int) -> None:
    """Put a number behind the last of a list with so much room; where it is full the oldest is forgotten."""
    if room > 0:
        if memory[at] == room:
            remove_at(memory, at, 0)
        append(memory, at, number)
