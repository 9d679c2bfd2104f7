"""Circuits of placement: the bitmap of a memory, the tests of all windows, the searches from both ends, the policies.

Every circuit does in one step a release, then the search, then the update of the bitmap. The policies are nearest
boundary, first, last and best fit, with the same window tests, and buddy (spec 1).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import (
    Circuit,
    added,
    at_least,
    binary,
    circuit_after,
    constant,
    equal,
    exceeds,
    first_one,
    from_first_one,
    one_hot,
    subtracted,
    widened,
)
from workbench.circuits.registry import Maker, within
from workbench.circuits.vectors import Case, Step
from workbench.gates import ONE, ZERO
from workbench.policies.placement.question import Placement
from workbench.streams import Streams


def build_nearest(policy: Any, segments: int) -> Circuit:
    """Build the allocator of a memory that places nearest to either boundary: both searches, comparator, selector.

    With `tie: alternate` one register more, `high_next`, says which side the next tie goes to; it turns where a tie
    between two starts is granted. `scan_order` says nothing to a circuit that tests all windows side by side.

    References
    ----------
    spec 1, R9-R23.
    """
    memory = begun(policy, segments)
    net = memory.net
    fits = net.signal("start_map", starts(memory, policy.probe, policy.mask_source))
    low = lowest(net, fits, policy.leading_one, policy.lut_bits)
    high = highest(net, fits, policy.leading_one, policy.lut_bits)
    net.signal("low", low.place)
    net.signal("high", high.place)
    nearer, tie = _compared(memory, low, high, policy.distance)
    takes_high, turns = net.signal("takes_high", _side(net, nearer, tie, policy.tie)), policy.tie == "alternate"
    granted = finish(memory, low.any, net.select(takes_high, high.place, low.place))
    if turns:
        two = net.not_(equal(net, low.place, high.place))
        turn = net.all_of(np.concatenate([granted, tie, two]))
        net.follow("high_next", net.xor(net.named()["high_next"], turn))
    return net


def _compared(memory: Memory, low: Found, high: Found, distance: str) -> tuple[np.ndarray, np.ndarray]:
    """Return whether the high side is nearer, and whether both are equally near: low + high against the middle."""
    net, bits = memory.net, memory.length.size + 1
    total = added(net, low.place, high.place, bits)
    if distance == "window_edge":
        middle = subtracted(net, constant(memory.segments, bits), memory.length, bits)
    else:
        middle = constant(memory.segments - 1, bits)
    return exceeds(net, total, middle), equal(net, total, middle)


def _side(net: Circuit, nearer: np.ndarray, tie: np.ndarray, rule: str) -> np.ndarray:
    """Return whether the high side is taken."""
    if rule == "alternate":
        high = net.register("high_next")
    else:
        high = np.array([ONE if rule == "high" else ZERO], np.int32)
    return net.or_(nearer, net.and_(tie, high))


FEWEST, MOST = 2, 1024
"""Segments of a circuit: the gates grow with their square."""
MEMORY_STEPS = 24
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


def cases_of_memory(policy: Placement, segments: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield cases of random requests and releases from a reset on, and what the policy grants at each."""
    draw = Streams(seed)["placement circuit"]
    for case in range(count):
        yield list(_steps_of_memory(policy, segments, draw, (4, 2, 1)[case % 3]))


def _steps_of_memory(policy: Placement, segments: int, draw: Any, share: int) -> Iterator[Step]:
    """Yield steps with requests of up to one of so many parts of the memory, or of all of it."""
    memory, live = policy.allocator(segments), list[tuple[int, int]]()
    for _ in range(MEMORY_STEPS):
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


class Found(NamedTuple):
    """Where a 1 stands."""

    any: np.ndarray
    """One wire: whether there is one."""
    place: np.ndarray
    """Its place as a number; of no meaning where there is none."""


def lowest(net: Circuit, wires: Any, form: str = "binary", lut_bits: int = 8) -> Found:
    """Return where the lowest 1 stands, by a ripple from the end or by halving down to a look-up (spec 1, R17-R18)."""
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


def first(policy: Any, segments: int) -> Circuit:
    """Build first fit: the lowest start that fits."""
    memory = begun(policy, segments)
    result = lowest(memory.net, memory.net.signal("start_map", starts(memory)))
    finish(memory, result.any, result.place)
    return memory.net


def last(policy: Any, segments: int) -> Circuit:
    """Build last fit: the highest start that fits."""
    memory = begun(policy, segments)
    result = highest(memory.net, memory.net.signal("start_map", starts(memory)))
    finish(memory, result.any, result.place)
    return memory.net


def best(policy: Any, segments: int) -> Circuit:
    """Build best fit: of the free runs that are long enough the shortest, found length by length side by side."""
    memory = begun(policy, segments)
    net, runs = memory.net, _whole_runs(memory)
    requested = from_first_one(net, lengths(memory))
    there = np.concatenate([net.any_of(row) for row in runs])
    shortest = net.signal("shortest", first_one(net, net.and_(requested, there)))
    passed = np.stack([net.and_(wire, row) for wire, row in zip(shortest, runs, strict=True)])
    heads = net.signal("heads", np.concatenate([net.any_of(column) for column in passed.T]))
    result = (lowest if policy.tie == "low" else highest)(net, heads)
    finish(memory, result.any, result.place)
    return net


def _whole_runs(memory: Memory) -> list[np.ndarray]:
    """Return for each length where a free run of just that length begins."""
    net, free, size = memory.net, memory.free, memory.segments
    taken = net.not_(free)
    heads = np.concatenate([free[:1], net.and_(free[1:], taken[:-1])])
    rows = []
    for length, row in enumerate(chained(memory), 1):
        ends = np.ones(size, np.int32)
        ends[: size - length] = taken[length:]
        rows.append(net.and_(net.and_(heads, row), ends))
    return rows


def build_buddy(policy: Any, segments: int) -> Circuit:
    """Build buddy: of the free blocks of the smallest sufficient order that has one, the lowest.

    Blocks of each order are found by a tree of ANDs; those count that have no free buddy. A length is rounded up to a
    power of two before it is taken out of the map; a release says the rounded length.
    """
    memory = begun(policy, segments)
    net, alone = memory.net, _alone(memory)
    enough = [at_least(net, constant(1 << order, memory.length.size + 1), memory.length) for order in range(len(alone))]
    there = np.concatenate([net.any_of(row) for row in alone])
    order = net.signal("order", first_one(net, net.and_(np.concatenate(enough), there)))
    result = lowest(net, net.signal("start_map", _starts(net, order, alone, segments)))
    rounded = first_one(net, np.concatenate(enough))
    finish(memory._replace(length=widened(rounded, memory.length.size)), result.any, result.place)
    return net


def _alone(memory: Memory) -> list[np.ndarray]:
    """Return for each order a wire a block: whether it is free and its buddy is not."""
    net, blocks, rows = memory.net, memory.free, []
    while blocks.size > 1:
        pairs = blocks.size // 2
        joined = net.and_(blocks[0 : 2 * pairs : 2], blocks[1 : 2 * pairs : 2])
        covered = np.concatenate([np.repeat(joined, 2), np.full(blocks.size % 2, ZERO, np.int32)])
        rows.append(net.and_(blocks, net.not_(covered)))
        blocks = joined
    return [*rows, blocks]


def _starts(net: Circuit, order: np.ndarray, alone: list[np.ndarray], segments: int) -> np.ndarray:
    """Return where the blocks of the chosen order begin, a wire a segment."""
    starts = np.full(segments, ZERO, np.int32)
    for k, (wire, row) in enumerate(zip(order, alone, strict=True)):
        places = np.arange(row.size) << k
        starts[places] = net.or_(starts[places], net.and_(wire, row))
    return starts


MAKERS = [
    Maker("placement.nearest_boundary", build_nearest, cases_of_memory, size="segments"),
    *(
        Maker(f"placement.{name}", build, cases_of_memory, size="segments")
        for name, build in (("first_fit", first), ("last_fit", last), ("best_fit", best))
    ),
    Maker("placement.buddy", build_buddy, cases_of_memory, size="segments"),
]
