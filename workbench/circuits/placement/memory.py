"""The bitmap of a memory, which every placement circuit has: release first, then the search, then the update.

Inputs: `request` with `length`, and `frees` with `base` and `released` (a length); both may come in one step, and
the search then sees what was released (spec 1, R7, R8). A length is from 1 to the segments; 0 is refused.
Outputs: `granted`, and `start`, which is 0 where nothing is granted.
Register: `map`, a bit a segment; after a reset all are free.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, Step
from workbench.circuits.words import added
from workbench.errors import wrong_value
from workbench.gates.netlist import ZERO
from workbench.policies.placement.question import Placement
from workbench.streams import Streams

FEWEST, MOST = 2, 1024
"""Segments of a circuit: the gates grow with their square."""
STEPS = 24
"""Requests and releases of a golden case, from a reset on."""


class Memory(NamedTuple):
    """A circuit that has its inputs and its map."""

    net: Circuit
    segments: int
    free: np.ndarray
    """A wire a segment: whether it is free once this step's release is done."""
    length: np.ndarray
    asked: np.ndarray
    """One wire: there is a request, of one segment or more."""
    inverted: bool
    """Whether a 1 of the map is a taken segment."""


def begun(policy: Placement, segments: int) -> Memory:
    """Return a circuit with its inputs, its map, and what a release does to it."""
    if not isinstance(segments, int) or not FEWEST <= segments <= MOST:
        nearest = FEWEST if not isinstance(segments, int) or segments < FEWEST else MOST
        raise wrong_value("", "segments", f"must be from {FEWEST} to {MOST} for a circuit", segments, nearest)
    levers = levers_of(policy)
    bits = segments.bit_length()
    net = Circuit(policy.name, source_of(policy), levers, {"SEGMENTS": segments, "BITS": bits})
    request, length = net.input("request"), net.input("length", bits)
    frees, base, released = net.input("frees"), net.input("base", bits), net.input("released", bits)
    inverted = levers.get("encoding") == "free0"
    held = net.register("map", segments, 0 if inverted else (1 << segments) - 1)
    given = net.signal("given_back", net.and_(frees, between(net, base, released, segments)))
    free = net.signal("free_pre", net.or_(net.not_(held) if inverted else held, given))
    return Memory(net, segments, free, length, net.and_(request, net.any_of(length)), inverted)


def finish(memory: Memory, fits: Any, start: Any) -> np.ndarray:
    """Grant a start where one fits: say so, and take its range out of the map; return the wire that grants."""
    net, bits = memory.net, memory.length.size
    granted = net.and_(memory.asked, fits)
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


def cases(policy: Placement, segments: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield cases of random requests and releases from a reset on, and what the policy grants at each."""
    draw = Streams(seed)["placement circuit"]
    for case in range(count):
        yield list(_steps(policy, segments, draw, (4, 2, 1)[case % 3]))


def _steps(policy: Placement, segments: int, draw: Any, share: int) -> Iterator[Step]:
    """Yield steps with requests of up to one of so many parts of the memory, or of all of it."""
    memory, live = policy.allocator(segments), list[tuple[int, int]]()
    for _ in range(STEPS):
        given = {"request": int(draw.random() < 0.8), "length": _length(policy, segments, share, draw)}
        back = live.pop(int(draw.integers(len(live)))) if live and draw.random() < 0.4 else None
        if back:
            memory.give_back(*back)
        start = memory.take(given["length"]) if given["request"] else None
        if start is not None:
            live.append((start, given["length"]))
        base, released = back or (0, 0)
        released = int(policy.footprint(released, segments)) if back else 0
        given |= {"frees": int(back is not None), "base": base, "released": released}
        yield Step(given, {"granted": int(start is not None), "start": start or 0})


def _length(policy: Placement, segments: int, share: int, draw: Any) -> int:
    """Draw a length that the policy admits: one that it rounds above the memory's largest block asks for one."""
    length = int(draw.integers(1, max(segments // share, 1) + 1))
    return length if int(policy.footprint(length, segments)) <= segments else 1
