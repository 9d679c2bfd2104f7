"""The lowest and the highest 1 of a vector, by halving or by a scan (spec 1, R24-R28).

Halving looks at one half at each stage and keeps the half with the wanted 1; at `lut_bits` it stops and a look-up finds
the rest. The vector is padded with zeros to a power of two at the high end. All results are undefined for a vector
without a 1 (R27); here they are then whatever the circuit's wires would hold.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating, kernel


@allocating
def padded(starts: np.ndarray) -> np.ndarray:
    """Return a vector with zeros added at the high end up to a power of two (R28)."""
    width = 1
    while width < starts.size:
        width *= 2
    wide = np.zeros(width, np.bool_)
    for k in range(starts.size):
        wide[k] = starts[k]
    return wide


@kernel
def holds_one(vector: np.ndarray, base: int, width: int) -> bool:
    """Return the OR of the bits [base, base + width)."""
    some = False
    for k in range(base, base + width):
        some |= vector[k]
    return some


@kernel
def lowest_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """Find the lowest 1 as LLOP: a stage emits 0 and keeps the low half where that holds a 1, else 1 and the high half
    (R24)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        one = 0 if holds_one(wide, base, width) else 1
        emitted = 2 * emitted + one
        base += one * width
    return emitted * width + lowest_by_scan(wide, base, width) - base


@kernel
def highest_raw_by_halving(wide: np.ndarray, lut_bits: int) -> int:
    """Return MLOP as the circuit emits it: NOT OR of the high half at each stage, the complement of the index (R25)."""
    base, width, emitted = 0, wide.size, 0
    while width > lut_bits:
        width //= 2
        one = 0 if holds_one(wide, base + width, width) else 1
        emitted = 2 * emitted + one
        base += (1 - one) * width
    return emitted * width + base + width - 1 - highest_by_scan(wide, base, width)


@kernel
def lowest_by_scan(vector: np.ndarray, base: int, width: int) -> int:
    """Return the index of the first 1 from `base` up; of the last bit where there is none."""
    for index in range(base, base + width):
        if vector[index]:
            return index
    return base + width - 1


@kernel
def highest_by_scan(vector: np.ndarray, base: int, width: int) -> int:
    """Return the index of the first 1 from the top of the bits [base, base + width) down; `base` where there is
    none."""
    for index in range(base + width - 1, base - 1, -1):
        if vector[index]:
            return index
    return base
