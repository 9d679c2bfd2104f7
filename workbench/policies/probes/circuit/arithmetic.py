"""Numbers as vectors of wires, the lowest bit first: sum, comparison, maximum, counted as gates of two inputs.

A number may also be a row a bit of many numbers at once: int32[bits, numbers].
"""

from __future__ import annotations

import numpy as np

from workbench.policies.probes.circuit.netlist import ZERO, Netlist


def constant(value: int, bits: int, like: np.ndarray) -> np.ndarray:
    """Return a number that is known when the circuit is built, in the shape of another."""
    wires = np.array([value >> j & 1 for j in range(bits)], np.int32)
    return np.broadcast_to(wires.reshape(-1, *[1] * (like.ndim - 1)), (bits, *like.shape[1:]))


def widened(number: np.ndarray, bits: int) -> np.ndarray:
    """Return the number with zeros above up to a width, or cut to it."""
    above = np.full((max(bits - len(number), 0), *number.shape[1:]), ZERO, np.int32)
    return np.concatenate([number, above])[:bits]


def sum_of(net: Netlist, a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """Add a + b in so many bits, by a carry that ripples from the lowest one."""
    carry, total = np.full(a.shape[1:], ZERO, np.int32), []
    for one, other in zip(widened(a, bits), widened(b, bits), strict=True):
        half, both = _exclusive(net, one, other)
        whole, passed = _exclusive(net, half, carry)
        total.append(whole)
        carry = net.or_(both, passed)
    return np.stack(total)


def larger(net: Netlist, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the larger of two numbers of one width."""
    return net.select(_exceeds(net, a, b), a, b)


def _exceeds(net: Netlist, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Compare a > b, from the lowest bit up: a bit decides where it differs."""
    exceeds = np.full(a.shape[1:], ZERO, np.int32)
    for one, other in zip(a, b, strict=True):
        not_other = net.not_(other)
        exceeds = net.or_(net.and_(one, not_other), net.and_(net.or_(one, not_other), exceeds))
    return exceeds


def _exclusive(net: Netlist, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Build a XOR b of OR, AND and an inverter, and a AND b."""
    both = net.and_(a, b)
    return net.and_(net.or_(a, b), net.not_(both)), both
