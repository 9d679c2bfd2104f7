"""Which starts fit: the tests of all windows of the memory side by side, in the three forms of the document (spec 1,
R9-R16)."""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.placement.memory import Memory, below
from workbench.circuits.words import one_hot
from workbench.gates.netlist import ZERO


def starts(memory: Memory, probe: str = "shift_and", mask_source: str = "precomputed") -> np.ndarray:
    """Return a wire a segment: whether a range of the length that is asked for may begin there."""
    if probe == "mask_or_and":
        return _masked(memory, mask_source)
    rows = chained(memory) if probe == "shift_and" else joined(memory)
    hot = lengths(memory)
    passed = [memory.net.and_(hot[k], row) for k, row in enumerate(rows)]
    return np.concatenate([memory.net.any_of(column) for column in np.stack(passed).T])


def lengths(memory: Memory) -> np.ndarray:
    """Return a wire a length from 1 on: whether it is asked for."""
    return one_hot(memory.net, memory.length, memory.segments + 1)[1:]


def chained(memory: Memory) -> list[np.ndarray]:
    """Return for each length the starts that fit: each row is the one before AND the map, moved by one more."""
    rows = [memory.free]
    for length in range(1, memory.segments):
        rows.append(memory.net.and_(rows[-1], _moved(memory.free, length)))
    return [memory.net.signal(f"fits_{k + 1}", row) if k else row for k, row in enumerate(rows)]


def joined(memory: Memory) -> list[np.ndarray]:
    """Return the same where each window is two halves that overlap, of the largest power of two."""
    rows = [memory.free]
    for length in range(2, memory.segments + 1):
        half = 1 << (length - 1).bit_length() - 1
        rows.append(memory.net.and_(rows[half - 1], _moved(rows[half - 1], length - half)))
    return rows


def _masked(memory: Memory, mask_source: str) -> np.ndarray:
    """Return the same by a mask a start: none of its ones is taken, and none lies beyond the end."""
    net, size = memory.net, memory.segments
    mask, fits = _from_table(net, memory) if mask_source == "precomputed" else _computed(net, memory)
    mask, taken = net.signal("mask", mask), net.not_(memory.free)
    hit = [net.any_of(net.and_(taken[k:], mask[: size - k])) for k in range(size)]
    beyond = np.append(np.int32(ZERO), mask[:0:-1])
    return net.and_(fits, net.not_(net.or_(np.concatenate(hit), beyond)))


def _from_table(net: Circuit, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """Return the size mask out of a table, a bit is 1 for all lengths above it; and whether the length is in it."""
    hot = lengths(memory)
    mask = np.concatenate([net.any_of(hot[k:]) for k in range(memory.segments)])
    return mask, mask[:1]


def _computed(net: Circuit, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """Return the size mask of the length, and whether it is no longer than the memory."""
    mask = below(net, memory.length, memory.segments + 1)
    return mask[:-1], net.not_(mask[-1:])


def _moved(row: Any, by: int) -> np.ndarray:
    """Return a row whose place k has what stood at k + by, zeros behind the end."""
    return np.concatenate([row[by:], np.full(min(by, len(row)), ZERO, np.int32)])
