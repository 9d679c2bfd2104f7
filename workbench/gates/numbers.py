"""Numbers as vectors of wires, the lowest bit first: sum, comparison, maximum, counted as gates of two inputs.

A number may also be a row a bit of many numbers at once: int32[bits, numbers].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.gates.netlist import ZERO, Netlist


def constant(value: int, bits: int) -> np.ndarray:
    """Return a number that is known when the circuit is built.

    >>> constant(5, 4).tolist()
    [1, 0, 1, 0]
    """
    return np.array([value >> j & 1 for j in range(bits)], np.int32)


def in_each(number: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Return a number once for each number of another vector of numbers."""
    return np.broadcast_to(number.reshape(-1, *[1] * (like.ndim - 1)), (number.size, *like.shape[1:]))


def widened(number: np.ndarray, bits: int) -> np.ndarray:
    """Return the number with zeros above up to a width, or cut to it."""
    above = np.full((max(bits - len(number), 0), *number.shape[1:]), ZERO, np.int32)
    return np.concatenate([number, above])[:bits]


def sum_of(net: Netlist, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """Add a + b in so many bits, by a carry that ripples from the lowest one; its XOR is of OR, AND and an inverter."""
    carry, total = np.full(a.shape[1:], ZERO, np.int32), []
    for one, other in zip(widened(a, bits), widened(b, bits), strict=True):
        half, both = _exclusive(net, one, other)
        whole, passed = _exclusive(net, half, carry)
        total.append(whole)
        carry = net.or_(both, passed)
    return np.stack(total)


def larger(net: Netlist, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the larger of two numbers of one width."""
    return net.select(exceeds(net, a, b)[0], a, b)


def exceeds(net: Netlist, a: Any, b: Any) -> np.ndarray:
    """Compare a > b of unsigned numbers, from the lowest bit up: a number of one bit, 1 where it is so."""
    width = max(len(a), len(b))
    result = np.full((1, *np.shape(a)[1:]), ZERO, np.int32)
    for one, other in zip(widened(a, width)[:, None], widened(b, width)[:, None], strict=True):
        no = net.not_(other)
        result = net.or_(net.and_(one, no), net.and_(net.or_(one, no), result))
    return result


def _exclusive(net: Netlist, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Build a XOR b of OR, AND and an inverter, and a AND b."""
    both = net.and_(a, b)
    return net.and_(net.or_(a, b), net.not_(both)), both
