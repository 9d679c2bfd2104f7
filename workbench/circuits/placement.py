"""Circuits of placement policies: nearest boundary; first, last and best fit; buddy (spec 1).

Every circuit does in one step a release, then the search, then the update of the bitmap.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import (
    Circuit,
    added,
    at_least,
    constant,
    equal,
    exceeds,
    first_one,
    from_first_one,
    subtracted,
    widened,
)
from workbench.circuits.range_search import Memory, Position, begun, chained, finish, highest, lengths, lowest, starts
from workbench.circuits.registry import Maker
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


def _compared(memory: Memory, low: Position, high: Position, distance: str) -> tuple[np.ndarray, np.ndarray]:
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


MEMORY_STEPS = 24
"""Requests and releases of a golden case, from a reset on."""


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
    """Return the starts of the blocks of the chosen order, a wire a segment."""
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
