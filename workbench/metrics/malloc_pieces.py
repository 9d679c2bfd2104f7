"""Do the pieces of a block lie apart, and inside of it? (spec 2, R20, E1, H2.6)"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel
from workbench.records.malloc import MallocRecord


def piece_measures(record: MallocRecord) -> dict[str, float]:
    """Compute the bytes of pieces that lie in another one, and beyond the end of their block."""
    got = np.flatnonzero(record.block >= 0)
    block = record.block[got].astype(np.int64)
    start = record.offset[got] - record.origin[block]
    if len(got) > 1 and not _in_order(block, start):
        order = np.lexsort((start, block))
        got, block, start = got[order], block[order], start[order]
    ends = record.bytes - record.header_bytes
    overlap, outside = _count(block, start, record.size[got], ends, np.zeros(2, np.int64))
    return {"overlap_bytes": float(overlap), "out_of_bounds_bytes": float(outside)}


def _in_order(block: np.ndarray, start: np.ndarray) -> bool:
    same = block[1:] == block[:-1]
    return bool(((block[1:] > block[:-1]) | (same & (start[1:] >= start[:-1]))).all())


@kernel
def _count(
    block: np.ndarray, start: np.ndarray, size: np.ndarray, ends: np.ndarray, counts: np.ndarray
) -> tuple[int, int]:
    """Walk the pieces by block and start; `reach` is where those before them in the block end."""
    reach = np.int64(0)
    for k in range(block.size):
        end = start[k] + size[k]
        if k == 0 or block[k] != block[k - 1]:
            reach = start[k]
        counts[0] += max(min(end, reach) - start[k], 0)
        counts[1] += max(end - max(start[k], ends[block[k]]), 0)
        reach = max(reach, end)
    return counts[0], counts[1]
