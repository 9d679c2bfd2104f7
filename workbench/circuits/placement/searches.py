"""The lowest and the highest 1 of a vector: by a ripple from the end, or by halving down to a look-up (spec 1, R17,
R18)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.words import binary, first_one
from workbench.gates.netlist import ZERO


class Found(NamedTuple):
    """Where a 1 stands."""

    any: np.ndarray
    """One wire: whether there is one."""
    place: np.ndarray
    """Its place as a number; of no meaning where there is none."""


def lowest(net: Circuit, wires: Any, form: str = "binary", lut_bits: int = 8) -> Found:
    """Return where the lowest 1 stands."""
    padded = _padded(np.asarray(wires, np.int32))
    if form == "linear":
        return Found(net.any_of(padded), binary(net, _rippled(net, padded)))
    return _halved(net, padded, lut_bits)


def highest(net: Circuit, wires: Any, form: str = "binary", lut_bits: int = 8) -> Found:
    """Return where the highest 1 stands: the lowest of the mirrored vector, mirrored back."""
    result = lowest(net, _padded(np.asarray(wires, np.int32))[::-1], form, lut_bits)
    return Found(result.any, net.not_(result.place))


def _halved(net: Circuit, wires: np.ndarray, lut_bits: int) -> Found:
    """Search the lower half if it has a 1, else the upper one; what is short enough is looked up."""
    if wires.size <= max(lut_bits, 2):
        return Found(net.any_of(wires), binary(net, first_one(net, wires)))
    half = wires.size // 2
    low, high = _halved(net, wires[:half], lut_bits), _halved(net, wires[half:], lut_bits)
    place = net.select(low.any, low.place, high.place)
    return Found(net.or_(low.any, high.any), np.concatenate([place, net.not_(low.any)]))


def _rippled(net: Circuit, wires: np.ndarray) -> np.ndarray:
    """Keep the lowest 1 alone, by a wire that runs from segment to segment."""
    seen, kept = wires[:1], [wires[:1]]
    for wire in wires[1:, None]:
        kept.append(net.and_(wire, net.not_(seen)))
        seen = net.or_(seen, wire)
    return np.concatenate(kept)


def _padded(wires: np.ndarray) -> np.ndarray:
    size = 1 << max((wires.size - 1).bit_length(), 1)
    return np.concatenate([wires, np.full(size - wires.size, ZERO, np.int32)])
