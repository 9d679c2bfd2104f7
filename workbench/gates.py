"""Netlists of two-input gates that are counted and evaluated, and numbers on their wires.

Gates are generated row by row over numbered wires. What is made of constants costs nothing: `x AND 0` is 0, `x AND 1`
is x. So the trimmed figures of the specification come out of the count, not out of a formula, and the same list is
evaluated to prove that it computes what it should. Probes count them; circuits add names, registers and Verilog.

A number is a vector of wires, the lowest bit first, or a row a bit of many numbers at once: int32[bits, numbers]. Sum,
comparison and maximum are counted as gates of two inputs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ZERO, ONE = 0, 1
"""The wires of the constants; the inputs follow them."""

AND, OR, NAND, NOT, REGISTER, TABLE, XOR = range(7)
SEARCH, DECODE = range(2)
"""The two parts of a probe, which are counted apart."""


class Row(NamedTuple):
    """Gates of one kind that were made in one step, or one table."""

    kind: int
    part: int
    cycle: int
    first: np.ndarray
    """int32[gates], the wire of each gate's first input; of a table, all its inputs."""
    second: np.ndarray
    """int32[gates], the wire of the second input; of a table, the numbers it holds, one a row."""
    out: np.ndarray
    """int32[gates], the wires made; of a table, its output bits, the lowest first."""


class Netlist:
    """A circuit with so many inputs; vectors are arrays of wires.

    >>> circuit = Netlist(2)
    >>> a, b = circuit.inputs
    >>> either = circuit.or_([a, ONE, b], [b, a, b])
    >>> circuit.count(OR), bool(either[1] == ONE), bool(either[2] == b)
    ([1], True, True)
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = np.arange(2, 2 + inputs, dtype=np.int32)
        self.rows: list[Row] = []
        self.depths = [0]
        """Gate levels of each cycle."""
        self.part = SEARCH
        self._levels = np.zeros(2 + inputs, np.int32)
        self._wires = 2 + inputs

    def and_(self, a: Any, b: Any) -> np.ndarray:
        """Return the AND of two vectors."""
        return self._folded(AND, a, b, zero=ZERO, one=ONE)

    def or_(self, a: Any, b: Any) -> np.ndarray:
        """Return the OR of two vectors."""
        return self._folded(OR, a, b, zero=ONE, one=ZERO)

    def not_(self, a: Any) -> np.ndarray:
        """Return the inverse of a vector."""
        a = np.asarray(a, np.int32)
        made, real = np.array(1 - a), a > ONE
        made[real] = self._made(NOT, a[real], a[real])
        return made

    def all_of(self, wires: Any) -> np.ndarray:
        """Return the AND over a vector, as a balanced tree: one wire."""
        return self._tree(self.and_, wires, ONE)

    def any_of(self, wires: Any) -> np.ndarray:
        """Return the OR over a vector, as a balanced tree: one wire."""
        return self._tree(self.or_, wires, ZERO)

    def not_all_of(self, wires: Any) -> np.ndarray:
        """Return the NAND over a vector: a balanced tree of ANDs whose last gate is a NAND, an inverter for one
        wire."""
        left = np.asarray(wires, np.int32)
        left = left[left != ONE]
        if ZERO in left or left.size < 2:
            return self.not_(self.all_of(left))
        half = 1 << ((left.size - 1).bit_length() - 1)
        return self._made(NAND, self.all_of(left[:half]), self.all_of(left[half:]))

    def select(self, condition: Any, yes: Any, no: Any) -> np.ndarray:
        """Return the one vector where a wire is 1, the other where it is 0: two ANDs and an OR a bit, and one
        inverter."""
        return self.or_(self.and_(condition, yes), self.and_(self.not_(condition), no))

    def table(self, inputs: Any, numbers: list[int], bits: int) -> np.ndarray:
        """Return a table read by a thermometer code: with k ones it gives `numbers[k]`; the lowest bit first."""
        inputs = np.asarray(inputs, np.int32)
        out = self._new(bits, int(self._levels[inputs].max(initial=0)) + 1)
        self.rows.append(Row(TABLE, self.part, len(self.depths) - 1, inputs, np.array(numbers, np.int64), out))
        return out

    def held(self, wires: Any) -> np.ndarray:
        """Return a vector behind registers; constants need none."""
        wires = np.asarray(wires, np.int32).copy()
        real = wires > ONE
        wires[real] = self._made(REGISTER, wires[real], wires[real])
        return wires

    def signal(self, name: str, wires: Any) -> np.ndarray:
        """Name wires for a reader, where a netlist keeps names, and return them."""
        return np.atleast_1d(np.asarray(wires, np.int32))

    def next_cycle(self) -> None:
        """Say that what follows happens a cycle later."""
        self.depths.append(0)

    def count(self, *kinds: int, part: int = SEARCH) -> list[int]:
        """Return the number of gates of some kinds of a part, cycle by cycle."""
        counts = [0] * len(self.depths)
        for row in self.rows:
            if row.kind in kinds and row.part == part:
                counts[row.cycle] += row.out.size
        return counts

    def table_bits(self) -> int:
        """Count the bits of all tables."""
        return sum(row.second.size * row.out.size for row in self.rows if row.kind == TABLE)

    def values(self, states: np.ndarray) -> np.ndarray:
        """Evaluate every wire, bool[wires, states], for bool[inputs, states]; registers pass on what they hold."""
        wires = np.zeros((self._wires, states.shape[1]), bool)
        wires[ONE], wires[self.inputs] = True, states
        for row in self.rows:
            wires[row.out] = output(row, wires)
        return wires

    def _tree(self, gate: Any, wires: Any, neutral: int) -> np.ndarray:
        """Reduce by joining one half with the other, so that a reader of the Verilog sees two slices."""
        left = np.asarray(wires, np.int32)
        left = left[left != neutral]
        while left.size > 1:
            half = left.size // 2
            left = np.concatenate([gate(left[:half], left[half : 2 * half]), left[2 * half :]])
        return left if left.size else np.array([neutral], np.int32)

    def _folded(self, kind: int, a: Any, b: Any, zero: int, one: int) -> np.ndarray:
        a, b = np.broadcast_arrays(np.asarray(a, np.int32), np.asarray(b, np.int32))
        made = np.where(b == one, a, b)
        made[(a == zero) | (b == zero)] = zero
        real = (a > ONE) & (b > ONE) & (a != b)
        made[real] = self._made(kind, a[real], b[real])
        return made

    def _made(self, kind: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        level = np.maximum(self._levels[first], self._levels[second]) + 1
        out = self._new(first.size, 0 if kind == REGISTER else level)
        self.rows.append(Row(kind, self.part, len(self.depths) - 1, first, second, out))
        return out

    def _new(self, wires: int, level: Any) -> np.ndarray:
        out = np.arange(self._wires, self._wires + wires, dtype=np.int32)
        self._wires += wires
        if self._wires > self._levels.size:
            self._levels = np.concatenate([self._levels, np.zeros(self._wires, np.int32)])
        self._levels[out] = level
        self.depths[-1] = max(self.depths[-1], int(np.max(level, initial=0)))
        return out


def output(row: Row, values: np.ndarray) -> np.ndarray:
    """Return the output of a row of gates for the wires: truth values, or words of 64 states side by side."""
    if row.kind == TABLE:
        numbers = row.second[values[row.first].sum(0)]
        return (numbers >> np.arange(row.out.size)[:, None] & 1).astype(bool)
    first, second = values[row.first], values[row.second]
    if row.kind == OR:
        return first | second
    if row.kind == XOR:
        return first ^ second
    both = first & second  # of a register and an inverter both inputs are the same wire
    return ~both if row.kind in (NAND, NOT) else both


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
