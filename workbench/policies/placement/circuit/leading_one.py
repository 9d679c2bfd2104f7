"""The lowest and the highest 1 of a vector, by halving or by a scan (spec 1, R24-R28).

Halving looks at one half at each stage and keeps the half with the wanted 1; at `lut_bits` it stops and a look-up finds
the rest. The vector is padded with zeros to a power of two at the high end. All results are undefined for a vector
without a 1 (R27); here they are then whatever the circuit's wires would hold.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating


@allocating
def padded(starts: np.ndarray) -> np.ndarray:
    """A vector with zeros added at the high end up to a power of two (R28)."""
    width = 1
    while width < starts.size:
        width *= 2
    wide = np.zeros(width, np.bool_)
    wide[: starts.size] = starts
    return wide


@allocating
def lowest_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """LLOP: a stage emits 0 and keeps the low half where that holds a 1, else 1 and the high half (R24)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        keeps_low = np.any(wide[base : base + width])
        emitted = 2 * emitted + (0 if keeps_low else 1)
        base += 0 if keeps_low else width
    return emitted * width + lowest_by_scan(wide[base : base + width])


@allocating
def highest_raw_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """MLOP as the circuit emits it: NOT OR of the high half at each stage, the complement of the index (R25)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        keeps_high = np.any(wide[base + width : base + 2 * width])
        emitted = 2 * emitted + (0 if keeps_high else 1)
        base += width if keeps_high else 0
    return emitted * width + (width - 1 - highest_by_scan(wide[base : base + width]))


@allocating
def lowest_by_scan(vector: np.ndarray) -> int:
    """The index of the first 1 from below; the last index where there is none."""
    for index in range(vector.size):
        if vector[index]:
            return index
    return int(vector.size - 1)


@allocating
def highest_by_scan(vector: np.ndarray) -> int:
    """The index of the first 1 from above; 0 where there is none."""
    for index in range(vector.size - 1, -1, -1):
        if vector[index]:
            return index
    return 0
