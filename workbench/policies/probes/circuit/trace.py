"""The bit vectors of Em. 4-6, literally, and every wire of a probe by shifting for one state.

What a reader of the source document checks by hand: shifted states, chains, reductions, decoding (spec 3, R31-R36,
R39-R46). A vector is a row of booleans, block 0 first. `occupied` is the value of an occupied block: 0 in the encoding
`free1`, 1 in `free0`, whose AND and OR change places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.compiled import allocating, kernel
from workbench.policies.placement.question import bits_text
from workbench.structures.bitmaps import bitmap


class ProbeTrace(NamedTuple):
    """The vectors as text, block 0 (or group 0) on the left, in the encoding of the probe."""

    f0: str | None
    """The groups' bits, F0; None for a probe without groups (R39)."""
    s: tuple[str, ...]
    """S: the state, or F0, shifted by 0, 1, 2, ... (R31)."""
    sa: tuple[str, ...]
    """SA, or FA: row i combines S[0] to S[i] (R32)."""
    sar: str
    """SAR, FAR, or SAR of the sampled lengths: bit w tells whether there is a run of the w-th length (R33, R45)."""
    longest: int
    """The report, in blocks."""


def trace(words: np.ndarray, blocks: int, params: np.ndarray) -> ProbeTrace:
    """Follow one free map through the circuit that the parameters describe."""
    occupied, groups = bool(params[ENCODING] == FREE0), int(params[GROUPS])
    state = bitmap(words, blocks, occupied)
    state = grouped(state, groups, occupied) if groups else state
    shifted = shifts(state, int(params[DIRECTION]), occupied)
    chained = chains(shifted, occupied)
    return ProbeTrace(
        bits_text(state) if groups else None,
        tuple(bits_text(row) for row in shifted),
        tuple(bits_text(row) for row in chained),
        bits_text(reduced(chained, params[LENGTHS:], occupied)),
        int(report(words, blocks, params)),
    )


DIRECTION, ENCODING, DECODE, GROUPS, LENGTHS = range(5)
"""The parameters of a probe by shifting: three forms, the groups (0 = none), then the sampled lengths (none = all)."""

LEFT, FREE0, LUT = 1, 1, 0


@allocating
def grouped(state: np.ndarray, groups: int, occupied: bool) -> np.ndarray:
    """Return F0: one bit a group of equally many blocks, free if all of them are (R39, E27)."""
    size = state.size // groups
    bits = np.empty(groups, np.bool_)
    for z in range(groups):
        some = False
        for k in range(z * size, (z + 1) * size):
            some |= state[k] == occupied
        bits[z] = some == occupied
    return bits


@allocating
def shifts(state: np.ndarray, direction: int, occupied: bool) -> np.ndarray:
    """Return S: bool[N, N], row i the state moved by i, toward block N - 1 for right, occupied blocks coming in (R31,
    E15)."""
    result = np.empty((state.size, state.size), np.bool_)
    for i in range(state.size):
        by = -i if direction == LEFT else i
        for k in range(state.size):
            result[i, k] = state[k - by] if 0 <= k - by < state.size else occupied
    return result


@allocating
def chains(shifted: np.ndarray, occupied: bool) -> np.ndarray:
    """Return SA: row i is S[0] AND ... AND S[i], in `free0` S[0] OR ... OR S[i] (R32)."""
    result = shifted.copy()
    for i in range(1, shifted.shape[0]):
        for k in range(shifted.shape[1]):
            result[i, k] = result[i - 1, k] | result[i, k] if occupied else result[i - 1, k] & result[i, k]
    return result


@allocating
def reduced(chained: np.ndarray, lengths: np.ndarray, occupied: bool) -> np.ndarray:
    """Return SAR: the OR, in `free0` the NAND, over SA of every length, or of the sampled ones (R33, R44, R45)."""
    rows = chained.shape[0] if lengths.size == 0 else _not_above(lengths, chained.shape[0])
    bits = np.zeros(rows, np.bool_)
    for row in range(rows):
        every, some = True, False
        i = row if lengths.size == 0 else int(lengths[row]) - 1
        for k in range(chained.shape[1]):
            every &= chained[i, k]
            some |= chained[i, k]
        bits[row] = not every if occupied else some
    return bits


@kernel
def _not_above(lengths: np.ndarray, most: int) -> int:
    """Return how many of the increasing lengths are at most so long."""
    count = 0
    while count < lengths.size and lengths[count] <= most:
        count += 1
    return count


@kernel
def by_scan(bits: np.ndarray) -> int:
    """Scan from the last bit down to the first 1: its position counted from 1, 0 without a 1 (R36, E24)."""
    for i in range(bits.size - 1, -1, -1):
        if bits[i]:
            return i + 1
    return 0


@kernel
def by_table(bits: np.ndarray) -> int:
    """Return the row of the table whose code equals the bits: row r holds r ones, then zeros (R34, R35)."""
    for row in range(bits.size + 1):
        equal = True
        for i in range(bits.size):
            equal &= bits[i] == (i < row)
        if equal:
            return row
    return 0


@allocating
def report(free: Any, blocks: int, params: Any) -> int:
    """Return what the circuit reports of a free map, in the forms that the parameters say."""
    direction, occupied, lengths = int(params[DIRECTION]), params[ENCODING] == FREE0, params[LENGTHS:]
    state, size = bitmap(free, blocks, occupied), 1
    if params[GROUPS] > 0:
        state = grouped(state, int(params[GROUPS]), occupied)
        size = blocks // state.size
    bits = reduced(chains(shifts(state, direction, occupied), occupied), lengths, occupied)
    row = by_table(bits) if params[DECODE] == LUT else by_scan(bits)
    if lengths.size == 0 or row == 0:
        return row * size
    return int(lengths[row - 1]) * size
