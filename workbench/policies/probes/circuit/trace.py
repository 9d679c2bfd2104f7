"""Every wire of a probe by shifting for one state: what a reader of the source document checks by hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from workbench.policies.placement.free_map_text import bits_text
from workbench.policies.probes.circuit.vectors import (
    DIRECTION,
    ENCODING,
    FREE0,
    GROUPS,
    LENGTHS,
    chains,
    grouped,
    reduced,
    report,
    shifts,
)
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
