"""Every wire of the shared probe in one period: what a reader of the source document checks by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from workbench.errors import wrong_value
from workbench.policies.arguments import listed, whole
from workbench.policies.placement.free_map_text import MOST_SEGMENTS, Bits, Encoding, as_bits, bits_text
from workbench.policies.probes.shared.chain import prefixes
from workbench.policies.probes.shared.decode import looked_up, padded, scanned
from workbench.policies.probes.shared.layout import fields, loaded
from workbench.policies.probes.shared.masks import FORMS, Direction, Masks, as_number, mask
from workbench.policies.probes.shared.reduction import half_sequences, sequence

Padding = Literal["zero", "occupied"]


class SharedTrace(NamedTuple):
    """The wires of one period; words as hexadecimal numbers with bit 0 at the right, sequences as text from e = 0."""

    loaded: str
    """D0, the states one after the other (R56)."""
    masks: tuple[str, ...]
    """One a shift, from e = 0 (R58)."""
    prefixes: tuple[str, ...]
    """SA[0] to SA[width - 1]."""
    low_half: str
    """S_L, one bit a shift (R59)."""
    high_half: str
    """S_H."""
    sequences: tuple[str, ...]
    """SAR of each resource, as many entries as it has blocks."""
    codes: tuple[str, ...]
    """The sequences padded to the width of the probe (R57)."""
    scanned: tuple[int, ...]
    """The longest runs as a scan of the sequences gives them."""
    looked_up: tuple[int, ...]
    """The longest runs as the look-up of the padded codes gives them."""


def trace(
    free: Sequence[Bits],
    width: int = 128,
    direction: Direction = "right",
    encoding: Encoding = "free1",
    masks: Masks = "every_shift",
    padding: Padding = "zero",
) -> SharedTrace:
    """Follow the resources of one period through the probe.

    Parameters
    ----------
    free : sequence of str or bool arrays
        A free map a resource, block 0 first, 1 = free in either encoding; the first resource lies at bit 0.
    width : int
        Blocks that the probe looks at.
    direction, encoding, masks, padding
        As the levers of `SharedRun`; `masks="none"` leaves the masks out.

    Raises
    ------
    InputError
        A free map cannot be read, or all of them together are wider than the probe.

    References
    ----------
    spec 3, R56-R59; V19-V24.

    Examples
    --------
    >>> wires = trace(["0110", "0111"], 8)
    >>> wires.loaded, wires.sequences, wires.scanned
    ('0xe6', ('1100', '1110'), (2, 3))
    """
    states, width = [as_bits(one) for one in listed("free", free)], whole("width", width, 1, MOST_SEGMENTS)
    taken_is_one, sizes = encoding == "free0", [len(state) for state in states]
    check_together(sizes, width)
    starts, form = fields(sizes, width), FORMS.index(masks)
    word = loaded(np.concatenate(states), width, taken_is_one)
    rows = prefixes(word, starts, direction == "left", taken_is_one, form)
    found = [sequence(rows, int(first), size, taken_is_one) for first, size in zip(starts, sizes)]
    low_half, high_half = half_sequences(rows, taken_is_one)
    codes = [padded(one, width, padding == "occupied" and taken_is_one) for one in found]
    return SharedTrace(
        as_number(word),
        tuple(as_number(mask(starts, by, direction == "left", form)) for by in range(width)),
        tuple(as_number(row) for row in rows),
        bits_text(low_half),
        bits_text(high_half),
        tuple(bits_text(one) for one in found),
        tuple(bits_text(code) for code in codes),
        tuple(scanned(one) for one in found),
        tuple(looked_up(code) for code in codes),
    )


def check_together(sizes: Sequence[int], width: int) -> None:
    """Refuse resources that do not fit into the probe side by side, and none at all.

    >>> check_together([128, 64], 128)
    Traceback (most recent call last):
    workbench.errors.InputError: shared_run.width must be at least the 192 blocks of one period. Got 128. Nearest: 192.
    """
    if not sizes:
        raise wrong_value("", "a period", "must have at least one free map", [])
    if sum(sizes) > width:
        blocks = sum(sizes)
        raise wrong_value("", "shared_run.width", f"must be at least the {blocks} blocks of one period", width, blocks)
