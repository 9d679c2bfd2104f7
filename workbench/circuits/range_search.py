"""The bitmap of a memory as a circuit: its release and grant, tests of all windows, searches from both ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit, added, binary, circuit_after, first_one, one_hot
from workbench.circuits.registry import within
from workbench.gates import ZERO
from workbench.policies.placement.question import Placement

FEWEST, MOST = 2, 1024
"""Segments of a circuit: the gates grow with their square."""


class Memory(NamedTuple):
    """A circuit that has its inputs and its map."""

    net: Circuit
    segments: int
    free: np.ndarray
    """A wire a segment: whether it is free once this step's release is done."""
    length: np.ndarray
    request: np.ndarray
    """One wire: there is a request, of one segment or more."""
    inverted: bool
    """Whether a 1 of the map is a taken segment."""


def begun(policy: Placement, segments: int) -> Memory:
    """Return a circuit with the inputs, the map and the release that every placement circuit has.

    Inputs: `request` with `length`, and `frees` with `base` and `released` (a length); both may come in one step, and
    the search then sees what was released (spec 1, R7, R8). A length is from 1 to the segments; 0 is refused. Outputs,
    by `finish`: `granted`, and `start`, which is 0 where nothing is granted. Register: `map`, a bit a segment; after a
    reset all are free.
    """
    bits = within("segments", segments, FEWEST, MOST).bit_length()
    net = circuit_after(policy, SEGMENTS=segments, BITS=bits)
    request, length = net.input("request"), net.input("length", bits)
    frees, base, released = net.input("frees"), net.input("base", bits), net.input("released", bits)
    inverted = net.levers.get("encoding") == "free0"
    held = net.register("map", segments, 0 if inverted else (1 << segments) - 1)
    given = net.signal("given_back", net.and_(frees, between(net, base, released, segments)))
    free = net.signal("free_pre", net.or_(net.not_(held) if inverted else held, given))
    return Memory(net, segments, free, length, net.and_(request, net.any_of(length)), inverted)


def finish(memory: Memory, fits: Any, start: Any) -> np.ndarray:
    """Grant a start where one fits: say so, and take its range out of the map; return the wire that grants."""
    net, bits = memory.net, memory.length.size
    granted = net.and_(memory.request, fits)
    start = net.and_(granted, np.asarray(start, np.int32))[:bits]
    start = np.concatenate([start, np.full(bits - start.size, ZERO, np.int32)])
    taken = net.signal("taken", net.and_(granted, between(net, start, memory.length, memory.segments)))
    free = net.and_(memory.free, net.not_(taken))
    net.follow("map", net.not_(free) if memory.inverted else free)
    net.output("granted", granted)
    net.output("start", start)
    return granted


def below(net: Circuit, number: Any, size: int) -> np.ndarray:
    """Return so many wires of which those before the number are 1: the size mask (spec 1, R9)."""
    lines = np.array([ZERO], np.int32)
    for bit in np.asarray(number, np.int32)[:, None]:
        lines = np.concatenate([net.or_(bit, lines), net.and_(bit, lines)])
    return np.concatenate([lines, np.full(max(size - lines.size, 0), ZERO, np.int32)])[:size]


def between(net: Circuit, start: Any, length: Any, size: int) -> np.ndarray:
    """Return so many wires of which those of the range from a start, of a length, are 1."""
    end = added(net, start, length, len(start) + 1)
    return net.and_(below(net, end, size), net.not_(below(net, start, size)))


def starts(memory: Memory, probe: str = "shift_and", mask_source: str = "precomputed") -> np.ndarray:
    """Return a wire a segment: whether a range of the length that is asked for may begin there.

    The tests of all windows stand side by side, in one of the three forms of the document (spec 1, R9-R16).
    """
    if probe == "mask_or_and":
        return _masked(memory, mask_source)
    rows = chained(memory) if probe == "shift_and" else joined(memory)
    hot = lengths(memory)
    passed = [memory.net.and_(hot[k], row) for k, row in enumerate(rows)]
    return np.concatenate([memory.net.any_of(column) for column in np.stack(passed).T])


def lengths(memory: Memory) -> np.ndarray:
    """Return a wire a length from 1 on: whether it is asked for."""
    return one_hot(memory.net, memory.length, memory.segments + 1)[1:]


def chained(memory: Memory) -> list[np.ndarray]:
    """Return for each length the starts that fit: each row is the one before AND the map, moved by one more."""
    rows = [memory.free]
    for length in range(1, memory.segments):
        rows.append(memory.net.and_(rows[-1], _moved(memory.free, length)))
    return [memory.net.signal(f"fits_{k + 1}", row) if k else row for k, row in enumerate(rows)]


def joined(memory: Memory) -> list[np.ndarray]:
    """Return the same where each window is two halves that overlap, of the largest power of two."""
    rows = [memory.free]
    for length in range(2, memory.segments + 1):
        half = 1 << (length - 1).bit_length() - 1
        rows.append(memory.net.and_(rows[half - 1], _moved(rows[half - 1], length - half)))
    return rows


def _masked(memory: Memory, mask_source: str) -> np.ndarray:
    """Return the same by a mask a start: none of its ones is taken, and none lies beyond the end."""
    net, size = memory.net, memory.segments
    mask, fits = _from_table(net, memory) if mask_source == "precomputed" else _computed(net, memory)
    mask, taken = net.signal("mask", mask), net.not_(memory.free)
    hit = [net.any_of(net.and_(taken[k:], mask[: size - k])) for k in range(size)]
    beyond = np.append(np.int32(ZERO), mask[:0:-1])
    return net.and_(fits, net.not_(net.or_(np.concatenate(hit), beyond)))


def _from_table(net: Circuit, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """Return the size mask out of a table, a bit is 1 for all lengths above it; and whether the length is in it."""
    hot = lengths(memory)
    mask = np.concatenate([net.any_of(hot[k:]) for k in range(memory.segments)])
    return mask, mask[:1]


def _computed(net: Circuit, memory: Memory) -> tuple[np.ndarray, np.ndarray]:
    """Return the size mask of the length, and whether it is no longer than the memory."""
    mask = below(net, memory.length, memory.segments + 1)
    return mask[:-1], net.not_(mask[-1:])


def _moved(row: Any, by: int) -> np.ndarray:
    """Return a row whose place k has what stood at k + by, zeros behind the end."""
    return np.concatenate([row[by:], np.full(min(by, len(row)), ZERO, np.int32)])


class Position(NamedTuple):
    """Where a 1 stands."""

    any: np.ndarray
    """One wire: whether there is one."""
    place: np.ndarray
    """Its place as a number; of no meaning where there is none."""


def lowest(net: Circuit, wires: Any, form: str = "binary", lut_bits: int = 8) -> Position:
    """Return the place of the lowest 1, by a ripple from the end or by halving down to a look-up (spec 1, R17-R18)."""
    padded = _padded(np.asarray(wires, np.int32))
    if form == "linear":
        return Position(net.any_of(padded), binary(net, _rippled(net, padded)))
    return _halved(net, padded, lut_bits)


def highest(net: Circuit, wires: Any, form: str = "binary", lut_bits: int = 8) -> Position:
    """Return the place of the highest 1: the lowest of the mirrored vector, mirrored back."""
    result = lowest(net, _padded(np.asarray(wires, np.int32))[::-1], form, lut_bits)
    return Position(result.any, net.not_(result.place))


def _halved(net: Circuit, wires: np.ndarray, lut_bits: int) -> Position:
    """Search the lower half if it has a 1, else the upper one; what is short enough is looked up."""
    if wires.size <= max(lut_bits, 2):
        return Position(net.any_of(wires), binary(net, first_one(net, wires)))
    half = wires.size // 2
    low, high = _halved(net, wires[:half], lut_bits), _halved(net, wires[half:], lut_bits)
    place = net.select(low.any, low.place, high.place)
    return Position(net.or_(low.any, high.any), np.concatenate([place, net.not_(low.any)]))


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
