"""Which starts are feasible? The window tests of the source documents, over a bitmap in either encoding.

`taken_is_one` is the encoding `free0`, whose tests are the duals (spec 1, E14): AND and OR change places, and the
result is inverted. All of them give the same start map (R15).
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import allocating, kernel
from workbench.policies.placement.circuit.masks import shifted, size_mask, window_masks

SHIFT_AND, WINDOW_AND = 0, 2


@kernel
def mask_test(bits: np.ndarray, mask: np.ndarray, taken_is_one: bool) -> bool:
    """Test a row by its mask (A): AND over k of NOT mask[k] OR map[k]; in `free0` the NOR of mask[k] AND map[k] (R13,
    E14)."""
    every, some = True, False
    for k in range(bits.size):
        every &= (not mask[k]) | bits[k]
        some |= mask[k] & bits[k]
    return not some if taken_is_one else every


@kernel
def window_test(bits: np.ndarray, start: int, length: int, taken_is_one: bool) -> bool:
    """Test a row by its window (B): AND of the window's own bits; in `free0` their NOR (R14)."""
    every, some = True, False
    for k in range(start, start + length):
        every &= bits[k]
        some |= bits[k]
    return not some if taken_is_one else every


@allocating
def shift_test(bits: np.ndarray, length: int, taken_is_one: bool) -> np.ndarray:
    """Test every row at once: the map AND its copies shifted by 1 to length - 1, taken segments coming in (D12).

    This is the vector SA[length - 1] of spec 3 (R31, R32) with the shift toward lower positions; in `free0` the chain
    is made of ORs.
    """
    chain = bits.copy()
    for distance in range(1, length):
        moved = shifted(bits, -distance, taken_is_one)
        for k in range(bits.size):
            chain[k] = chain[k] | moved[k] if taken_is_one else chain[k] & moved[k]
    for k in range(bits.size):
        chain[k] = chain[k] != taken_is_one
    return chain


@allocating
def start_bits(
    bits: np.ndarray, length: int, probe: int, on_the_fly: bool, descending: bool, taken_is_one: bool
) -> np.ndarray:
    """Return the start map, bool[segments], row by row in the order asked for; rows above segments - length stay 0
    (E3)."""
    if probe == SHIFT_AND:
        return shift_test(bits, length, taken_is_one)
    if probe == WINDOW_AND:
        return _window_tests(bits, length, descending, taken_is_one)
    if on_the_fly:
        return _shifted_mask_tests(bits, length, descending, taken_is_one)
    return _stored_mask_tests(bits, length, descending, taken_is_one)


@kernel
def _row(step: int, rows: int, descending: bool) -> int:
    return rows - 1 - step if descending else step


@allocating
def _window_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    for step in range(rows):
        row = _row(step, rows, descending)
        starts[row] = window_test(bits, row, length, taken_is_one)
    return starts


@allocating
def _stored_mask_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    masks = window_masks(bits.size, length)
    for step in range(rows):
        row = _row(step, rows, descending)
        starts[row] = mask_test(bits, masks[row], taken_is_one)
    return starts


@allocating
def _shifted_mask_tests(bits: np.ndarray, length: int, descending: bool, taken_is_one: bool) -> np.ndarray:
    """Test with one mask that moves by a position from row to row."""
    rows, starts = bits.size - length + 1, np.zeros(bits.size, np.bool_)
    mask = shifted(size_mask(bits.size, length), _row(0, rows, descending), False)
    for step in range(rows):
        starts[_row(step, rows, descending)] = mask_test(bits, mask, taken_is_one)
        mask = shifted(mask, -1 if descending else 1, False)
    return starts
