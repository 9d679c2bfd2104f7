"""Exact probes that no document has: composed of small parts, for a search of the smallest and the fastest.

The blocks are cut into leaves of a power of two. A run that touches no border between leaves is looked for within its
leaf by windows; one that does is the free end of what lies below a border and the free end of what lies above it. These
ends are formed by a tree that joins neighbors, or by a chain that runs from leaf to leaf. A full range has a wire of
its own, so that an end of a joined range is chosen, never added. The longest of all crossings is picked by comparing
pairs, or by elimination: from the highest bit down, whoever lacks a bit that another has is out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit, added, widened
from workbench.errors import wrong_value
from workbench.gates import ONE, larger

LEAVES = (1, 2, 4, 8, 16)


class Composition(NamedTuple):
    """How a probe is put together."""

    leaf: int
    """Blocks that are looked at as a whole: a power of two."""
    ends: Literal["tree", "chain"]
    """How the free ends at every border are formed."""
    best: Literal["compared", "eliminated"]
    """How the longest is found among the crossings."""


class End(NamedTuple):
    """How many blocks of a range are free from one end on."""

    low: np.ndarray
    """The number where the range is not full, else 0."""
    full: np.ndarray
    """One wire: whether all of it is free."""

    @property
    def number(self) -> np.ndarray:
        """Return the number, its highest bit being that of a full range."""
        return np.concatenate([self.low, self.full])


class Range(NamedTuple):
    """Neighboring blocks."""

    prefix: End
    suffix: End


def compositions(blocks: int) -> Iterator[Composition]:
    """Yield every composition for so many blocks, with two leaves at least.

    >>> len(list(compositions(16))), len(list(compositions(64)))
    (16, 20)
    """
    for leaf, ends, best in product(LEAVES, ("tree", "chain"), ("compared", "eliminated")):
        if 2 * leaf <= blocks:
            yield Composition(leaf, ends, best)  # type: ignore[arg-type]


def composed(how: Composition, blocks: int) -> Circuit:
    """Return the circuit of a composition: input `state`, 1 for a free block, output `report`, the longest run.

    Raises
    ------
    InputError
        The blocks are no power of two, or less than two leaves.

    Examples
    --------
    >>> from workbench.circuits import Simulator
    >>> circuit = composed(Composition(leaf=2, ends="tree", best="eliminated"), 8)
    >>> Simulator(circuit).step({"state": [0b01110110]})
    {'report': [3]}
    """
    if blocks & (blocks - 1) or blocks < 2 * how.leaf:
        expected = f"must be a power of two, at least two leaves of {how.leaf}"
        raise wrong_value("", "blocks", expected, blocks, 2 * how.leaf)
    name = f"composed_{how.leaf}_{how.ends}_{how.best}"
    net = Circuit(name, "A composition that was searched for", how._asdict(), {"BLOCKS": blocks})
    leaves = net.input("state", blocks).reshape(-1, how.leaf)
    ranges = [_leaf(net, wires) for wires in leaves]
    crossings = _crossed_by_tree(net, ranges) if how.ends == "tree" else _crossed_by_chain(net, ranges)
    numbers = [*crossings, *_inside(net, leaves)]
    longest = _compared if how.best == "compared" else _eliminated
    net.output("report", widened(longest(net, numbers, blocks.bit_length()), blocks.bit_length()))
    return net


def _leaf(net: Circuit, wires: np.ndarray) -> Range:
    return Range(_end(net, wires), _end(net, wires[::-1]))


def _end(net: Circuit, wires: np.ndarray) -> End:
    """Return the free blocks from the first one on: a thermometer code, then a number."""
    code = [wires[:1]]
    for wire in wires[1:, None]:
        code.append(net.and_(code[-1], wire))
    bits = (wires.size - 1).bit_length()
    *shorter, full = code
    if not shorter:
        return End(np.zeros(0, np.int32), full)
    number = net.table(np.concatenate(shorter), [*range(wires.size)], bits)
    return End(net.and_(number, net.not_(full)), full)


def _crossed_by_tree(net: Circuit, ranges: list[Range]) -> list[np.ndarray]:
    """Return the run across every border, each where two ranges become one."""
    crossings = []
    while len(ranges) > 1:
        pairs = list(zip(ranges[::2], ranges[1::2], strict=True))
        crossings += [_across(net, low.suffix.number, high.prefix.number) for low, high in pairs]
        ranges = [_joined(net, low, high) for low, high in pairs] if len(pairs) > 1 else []
    return crossings


def _joined(net: Circuit, low: Range, high: Range) -> Range:
    return Range(_longer(net, low.prefix, high.prefix), _longer(net, high.suffix, low.suffix))


def _longer(net: Circuit, near: End, far: End) -> End:
    """Return the end of two ranges: the near one's, and where that is full the far one's behind it."""
    low = net.or_(near.low, net.and_(near.full, far.low))
    above = net.and_(near.full, net.not_(far.full))
    return End(np.concatenate([low, above]), net.and_(near.full, far.full))


def _crossed_by_chain(net: Circuit, ranges: list[Range]) -> list[np.ndarray]:
    """Return the run across every border, with the free blocks below it counted from leaf to leaf."""
    below, crossings, bits = ranges[0].suffix.number, [], ranges[0].suffix.low.size
    for one in ranges[1:]:
        crossings.append(_across(net, below, one.prefix.number))
        low = net.or_(one.suffix.low, net.and_(one.suffix.full, below[:bits]))
        more = added(net, below[bits:], np.array([ONE], np.int32), len(below) - bits + 1)
        below = np.concatenate([low, net.and_(one.suffix.full, more)])
    return crossings


def _across(net: Circuit, below: np.ndarray, above: np.ndarray) -> np.ndarray:
    return added(net, below, above, max(len(below), len(above)) + 1)


def _inside(net: Circuit, leaves: np.ndarray) -> list[np.ndarray]:
    """Return the longest run that touches no border between leaves, as a number; none where leaves are one block."""
    size, code = leaves.shape[1], []
    inner = [leaves[0][:-1], *(leaf[1:-1] for leaf in leaves[1:-1]), leaves[-1][1:]]
    windows = [(row, row) for row in inner if row.size]
    for length in range(1, size):
        if length > 1:
            windows = [(net.and_(row[:-1], blocks[length - 1 :]), blocks) for row, blocks in windows if row.size > 1]
        code.append(net.any_of(np.concatenate([row for row, _ in windows])))
    return [net.table(np.concatenate(code), [*range(size)], (size - 1).bit_length())] if code else []


def _compared(net: Circuit, numbers: Sequence[np.ndarray], bits: int) -> np.ndarray:
    """Return the largest number by pairs, short ones first."""
    left = sorted((number[:bits] for number in numbers), key=len)
    while len(left) > 1:
        pairs = [(left[k], left[k + 1]) for k in range(0, len(left) - 1, 2)]
        made = [larger(net, widened(a, len(b)), b) for a, b in pairs]
        left = sorted([*made, *left[2 * len(pairs) :]], key=len)
    return left[0]


def _eliminated(net: Circuit, numbers: Sequence[np.ndarray], bits: int) -> np.ndarray:
    """Return the largest number, its highest bit first: whoever lacks a bit that another has is out."""
    rows = np.stack([widened(number, bits) for number in numbers])
    alive, result = np.full(len(rows), ONE, np.int32), []
    for k, column in enumerate(rows.T[::-1]):
        result.append(net.any_of(net.and_(alive, column)))
        if k < bits - 1:
            alive = net.and_(alive, net.or_(column, net.not_(result[-1])))
    return np.concatenate(result[::-1])
