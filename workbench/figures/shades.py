"""Which shade does each rectangle of a layout get, so that neighbours differ, in colour and in grey?"""

from __future__ import annotations

import numpy as np

from workbench.metrics.shared_memory import Pieces

SHADES = 5
"""How many there are. Four would do for single rectangles (four colour theorem), but not one by one in order."""


def shades(pieces: Pieces) -> np.ndarray:
    """Return a shade a piece: int64[pieces], from 0 to SHADES - 1; all pieces of a workgroup have the same.

    Workgroups choose in their order: of the shades that the fewest neighbours have, the one used least so far; the
    lower one wins a tie. Neighbours share an edge, in space or in time.
    """
    chosen = np.full(len(pieces.workgroup), -1)
    used = np.zeros(SHADES, np.int64)
    starts = np.flatnonzero(np.diff(pieces.workgroup, prepend=-1))
    for first, beyond in zip(starts, np.append(starts[1:], len(chosen)), strict=True):
        near = np.zeros(len(chosen), bool)
        for piece in range(first, beyond):
            near |= _neighbours(pieces, piece)
        around = np.bincount(chosen[near & (chosen >= 0)], minlength=SHADES)
        shade = int(np.lexsort((used, around))[0])
        chosen[first:beyond] = shade
        used[shade] += 1
    return chosen


def _neighbours(pieces: Pieces, piece: int) -> np.ndarray:
    begin, end, base, top = pieces.begin, pieces.end, pieces.base, pieces.base + pieces.length
    together = (begin < end[piece]) & (end > begin[piece])
    level = (base < top[piece]) & (top > base[piece])
    beside = (base == top[piece]) | (top == base[piece])
    after = (begin == end[piece]) | (end == begin[piece])
    return np.asarray((together & beside) | (level & after))
