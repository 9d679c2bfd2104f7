"""How fast the parts of a group execute: whole numbers of 2**-20 instructions a cycle (spec 3, E23).

The engine `dispatch` and the measures of its runs count with these rates, so they agree on every part of a split group.
"""

from __future__ import annotations

import numpy as np

from workbench.compiled import kernel

CLASSES = 6
RATE_BITS = 20
RATE_UNIT = 1 << RATE_BITS
"""Units of a rate in one instruction a cycle."""


def rates_of(instructions: np.ndarray, sent: np.ndarray, waves: np.ndarray, duration: np.ndarray) -> np.ndarray:
    """Return the rate of each part by class: int64[parts, 6], in 2**-20 instructions a cycle.

    Parameters
    ----------
    instructions : int64[parts, 6]
        Of the whole group.
    sent : int64[parts]
        Waves of the part.
    waves : int64[parts]
        Waves of the whole group.
    duration : int64[parts]
        Cycles, at least 1.

    Examples
    --------
    >>> one, seven = np.ones(1, np.int64), np.full((1, 6), 7)
    >>> rates_of(seven, one, 8 * one, 64 * one).tolist()  # 7/8 of an instruction in 64 cycles
    [[14336, 14336, 14336, 14336, 14336, 14336]]
    """
    rates = np.empty((len(sent), CLASSES), np.int64)
    _set_rates(instructions, sent, waves, duration, rates)
    return rates


@kernel
def _set_rates(
    instructions: np.ndarray, sent: np.ndarray, waves: np.ndarray, duration: np.ndarray, rates: np.ndarray
) -> None:
    for row in range(rates.shape[0]):
        for s in range(CLASSES):
            rates[row, s] = part_rate(instructions[row, s], sent[row], waves[row], duration[row])


@kernel
def part_rate(instructions: int, sent: int, waves: int, duration: int) -> int:
    """Return the instructions that `sent` of a group's waves execute a cycle, in 2**-20, rounded once, halves up.

    That is instructions * sent / (waves * duration). A remainder follows each division, so that no product passes 64
    bits with up to 2**42 instructions, 2**20 waves and 2**61 cycles.
    """
    of_part, rest = instructions * sent // waves, instructions * sent % waves
    scaled = (of_part << RATE_BITS) + (rest << RATE_BITS) // waves
    half = int(2 * ((rest << RATE_BITS) % waves) >= waves)
    return scaled // duration + int(2 * (scaled % duration) + half >= duration)
