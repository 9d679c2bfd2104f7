"""Numbers as vectors of wires, the lowest bit first: sums, comparisons, choices; what circuits are written with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.gates.netlist import ONE, ZERO
from workbench.gates.numbers import constant, exceeds, larger, widened

__all__ = [
    "added",
    "at_least",
    "binary",
    "chosen",
    "constant",
    "equal",
    "exceeds",
    "first_one",
    "from_first_one",
    "larger",
    "larger_of",
    "one_hot",
    "ones",
    "prefix_sums",
    "shifted_up",
    "subtracted",
    "widened",
]


def added(net: Circuit, a: Any, b: Any, bits: int, carry: Any = ZERO) -> np.ndarray:
    """Add a + b and a carry in so many bits, by a carry that ripples from the lowest one."""
    moved, total = np.asarray(carry, np.int32).reshape(1), []
    for one, other in zip(widened(a, bits)[:, None], widened(b, bits)[:, None], strict=True):
        half = net.xor(one, other)
        total.append(net.xor(half, moved))
        moved = net.or_(net.and_(one, other), net.and_(half, moved))
    return np.concatenate(total) if total else np.zeros(0, np.int32)


def subtracted(net: Circuit, a: Any, b: Any, bits: int) -> np.ndarray:
    """Subtract a - b in so many bits; below zero it wraps around."""
    return added(net, a, net.not_(widened(b, bits)), bits, ONE)


def at_least(net: Circuit, a: Any, b: Any) -> np.ndarray:
    """Compare a >= b of unsigned numbers: one wire."""
    return net.not_(exceeds(net, b, a))


def equal(net: Circuit, a: Any, b: Any) -> np.ndarray:
    """Compare a = b: one wire."""
    width = max(len(a), len(b))
    return net.all_of(net.not_(net.xor(widened(a, width), widened(b, width))))


def chosen(net: Circuit, which: Any, numbers: Sequence[Any]) -> np.ndarray:
    """Return the number whose wire of a one-hot vector is 1, 0 where none is."""
    bits = max(map(len, numbers))
    passed = [net.and_(wire, widened(number, bits)) for wire, number in zip(which, numbers, strict=True)]
    return np.concatenate([net.any_of(column) for column in np.stack(passed).T])


def first_one(net: Circuit, wires: Any) -> np.ndarray:
    """Return the vector with only its lowest 1 kept; the prefix is formed in a logarithmic number of levels."""
    before = from_first_one(net, wires)
    return net.and_(wires, net.not_(np.concatenate([[np.int32(ZERO)], before[:-1]])))


def from_first_one(net: Circuit, wires: Any) -> np.ndarray:
    """Return ones from the lowest 1 of a vector on."""
    before, step = np.asarray(wires, np.int32), 1
    while step < before.size:
        before = np.concatenate([before[:step], net.or_(before[step:], before[:-step])])
        step *= 2
    return before


def binary(net: Circuit, wires: Any) -> np.ndarray:
    """Return the position of the 1 of a one-hot vector as a number, 0 where there is none."""
    hot = np.asarray(wires, np.int32)
    places = np.arange(hot.size)
    bits = max((hot.size - 1).bit_length(), 1)
    return np.concatenate([net.any_of(hot[places >> j & 1 == 1]) for j in range(bits)])


def one_hot(net: Circuit, number: Any, size: int) -> np.ndarray:
    """Return so many wires of which the one at the number's position is 1."""
    number = np.asarray(number, np.int32)
    lines = np.array([ONE], np.int32)
    for bit in number[::-1, None]:
        off, on = net.and_(lines, net.not_(bit)), net.and_(lines, bit)
        lines = np.stack([off, on], 1).reshape(-1)
    return np.concatenate([lines, np.full(max(size - lines.size, 0), ZERO, np.int32)])[:size]


def shifted_up(net: Circuit, wires: Any, by: Any) -> np.ndarray:
    """Return a vector moved towards higher bits by a number, zeros coming in: a level of selectors a bit."""
    moved = np.asarray(wires, np.int32)
    for j, bit in enumerate(np.asarray(by, np.int32)):
        step = min(1 << j, moved.size)
        further = np.concatenate([np.full(step, ZERO, np.int32), moved[: moved.size - step]])
        moved = net.select(np.array([bit]), further, moved)
    return moved


def ones(net: Circuit, wires: Any) -> np.ndarray:
    """Count the ones of a vector, by a tree of adders."""
    numbers = [np.array([wire], np.int32) for wire in np.asarray(wires, np.int32)]
    while len(numbers) > 1:
        pairs = [(numbers[k], numbers[k + 1]) for k in range(0, len(numbers) - 1, 2)]
        rest = numbers[2 * len(pairs) :]
        numbers = [added(net, a, b, max(len(a), len(b)) + 1) for a, b in pairs] + rest
    return numbers[0] if numbers else np.array([ZERO], np.int32)


def larger_of(net: Circuit, numbers: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest number and the position of the first of those, by a tree of comparators."""
    bits, places = max(map(len, numbers)), max((len(numbers) - 1).bit_length(), 1)
    left = [(widened(np.asarray(n, np.int32), bits), constant(k, places)) for k, n in enumerate(numbers)]
    while len(left) > 1:
        joined = [_better(net, left[k], left[k + 1]) for k in range(0, len(left) - 1, 2)]
        left = joined + left[2 * len(joined) :]
    return left[0]


def prefix_sums(net: Circuit, numbers: Sequence[Any], bits: int) -> list[np.ndarray]:
    """Return the sum of all numbers before each one and of all, in a logarithmic number of adders one after another."""
    sums = [widened(np.asarray(n, np.int32), bits) for n in numbers]
    step = 1
    while step < len(sums):
        sums = [added(net, n, sums[k - step], bits) if k >= step else n for k, n in enumerate(sums)]
        step *= 2
    return [constant(0, bits), *sums]


def _better(net: Circuit, low: tuple[np.ndarray, np.ndarray], high: tuple[np.ndarray, np.ndarray]) -> Any:
    higher = exceeds(net, high[0], low[0])
    return net.select(higher, high[0], low[0]), net.select(higher, high[1], low[1])
