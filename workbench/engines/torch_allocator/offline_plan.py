"""An offline plan of addresses: what memory is needed if every lifetime is known.

An address plan knows all blocks beforehand: the largest block first, at the lowest address where it meets no block that
lives at the same time. What comes out can be reached, so the least possible lies between the most bytes that are live
at a time and it.

References
----------
Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", MLSys 2020 (greedy by size);
STAlloc (2025) plans addresses of recorded allocations of PyTorch in this way.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import routine

MOST_BLOCKS = 60_000
"""Every block is compared with every other."""


def planned_bytes(born: np.ndarray, gone: np.ndarray, size: np.ndarray) -> int:
    """Return the bytes that a plan takes.

    Parameters
    ----------
    born, gone : int64[blocks]
        The time from which on, and before which, each block lives.
    size : int64[blocks]

    Examples
    --------
    Two blocks that never meet share an address.

    >>> planned_bytes(np.array([0, 5, 0]), np.array([5, 9, 9]), np.array([100, 80, 10]))
    110
    """
    order = np.lexsort((born, born - gone, -size))
    first, last, length = (np.ascontiguousarray(column[order], np.int64) for column in (born, gone, size))
    placed, result = np.zeros((len(size) + 1, 4), np.int64), np.zeros(1, np.int64)
    place_all(first, last, length, placed, result)
    return int(result[0])


@routine
def place_all(born: np.ndarray, gone: np.ndarray, size: np.ndarray, placed: np.ndarray, result: np.ndarray) -> None:
    """Place each block; `placed` holds address, size, birth and end of those that are, the lowest address first."""
    top = 0
    for block in range(size.size):
        address = 0
        for k in range(block):
            # Placed blocks are sorted by address, so no later one overlaps.
            if placed[k, 0] >= address + size[block]:
                break
            if placed[k, 2] < gone[block] and born[block] < placed[k, 3]:
                address = max(address, placed[k, 0] + placed[k, 1])
        at = block
        while at > 0 and placed[at - 1, 0] > address:
            placed[at, 0], placed[at, 1] = placed[at - 1, 0], placed[at - 1, 1]
            placed[at, 2], placed[at, 3] = placed[at - 1, 2], placed[at - 1, 3]
            at -= 1
        placed[at, 0], placed[at, 1], placed[at, 2], placed[at, 3] = address, size[block], born[block], gone[block]
        top = max(top, address + size[block])
    result[0] = top
