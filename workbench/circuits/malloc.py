"""The circuit of device malloc: the prefix sum of a warp, by which one lane asks for all (spec 2, R1-R20)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import (
    Circuit,
    added,
    binary,
    chosen,
    circuit_after,
    constant,
    exceeds,
    first_one,
    prefix_sums,
    subtracted,
)
from workbench.circuits.registry import Maker, within
from workbench.circuits.vectors import Case, asked
from workbench.errors import InputError, wrong_value
from workbench.gates import ZERO
from workbench.policies.malloc.serve import ServeView
from workbench.streams import Streams

BITS = 16
"""Of what a lane asks for."""
MOST_LANES = 128


def build(policy: Any, lanes: int) -> Circuit:
    """Build the aggregation of a warp of so many lanes: which lane asks, for how much, and where each piece begins.

    Inputs: `active`, a bit a lane, and `asked_0`, `asked_1`, ... of `BITS` bits, bytes each. Outputs: `asks`, `leader`
    (a lane), `total` (bytes that it asks for), `served` (a bit a lane) and `offset_0`, `offset_1`, ...; an offset says
    nothing of a lane that is not served, and without a request leader and total are 0. The sums are formed in a
    logarithmic number of adders one after another. A leader that is drawn has no circuit.
    """
    _check(policy, lanes)
    wide, sums = BITS + 1, BITS + 1 + lanes.bit_length()
    net = circuit_after(policy, LANES=lanes, BITS=BITS)
    active = net.input("active", lanes)
    requests = [net.input(f"asked_{lane}", BITS) for lane in range(lanes)]
    served = active
    if policy.zero_policy == "null":
        served = np.concatenate([net.and_(one, net.any_of(bits)) for one, bits in zip(active[:, None], requests)])
    pieces = [net.and_(one, _adjusted(net, policy, bits, wide)) for one, bits in zip(served[:, None], requests)]
    before = prefix_sums(net, pieces, sums)
    first = net.signal("first", first_one(net, served))
    asks = first[:1] if policy.leader_rule == "first" else net.any_of(served)
    net.output("asks", asks)
    net.output("leader", net.and_(asks, binary(net, first)))
    net.output("total", net.and_(asks, before[-1]))
    net.output("served", served)
    ahead = chosen(net, first, pieces) if policy.prefix == "as_written" else np.zeros(0, np.int32)
    for lane in range(lanes):
        net.output(f"offset_{lane}", _offset(net, policy.prefix, before[lane : lane + 2], ahead))
    return net


def _adjusted(net: Circuit, policy: Any, size: Any, bits: int) -> np.ndarray:
    """Return a request raised to the least and rounded up to the alignment, both known when the circuit is built."""
    least, align = map(int, policy.parameters()[:2])
    floor = constant(least, bits)
    raised = net.select(exceeds(net, floor, size), floor, np.append(size, np.int32(ZERO)))
    low = align.bit_length() - 1
    moved = added(net, raised, constant(align - 1, bits), bits)
    return np.concatenate([np.full(low, ZERO, np.int32), moved[low:]])


def _offset(net: Circuit, prefix: str, before: Any, first: np.ndarray) -> np.ndarray:
    """Return the start of a piece, by the rule that is right or by one of those that are not."""
    if prefix == "exclusive":
        return np.asarray(before[0], np.int32)
    if prefix == "inclusive":
        return np.asarray(before[1], np.int32)
    return subtracted(net, before[1], first, len(before[1]))


def _check(policy: Any, lanes: int) -> None:
    if policy.leader_rule == "any":
        raise InputError("warp_aggregated.leader_rule any draws a lane, which no circuit does. Nearest: first_active.")
    within("lanes", lanes, 1, MOST_LANES)
    least, align = map(int, policy.parameters()[:2])
    if max(least, align) >= 1 << BITS:
        expected = f"must be below {1 << BITS:,} for a circuit, whose lanes ask for {BITS} bits"
        raise wrong_value("", "warp_aggregated.min_alloc and align", expected, max(least, align), (1 << BITS) - 1)


def cases(policy: Any, lanes: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random warps, of all lanes and of few, with equal sizes and unequal ones, and what the policy says."""
    draw = Streams(seed)["warps"]
    for case in range(count):
        active = draw.random(lanes) < (1.0, 0.5, 0.1)[case % 3]
        sizes = draw.integers(0, (1 << BITS, 64, 3)[case % 5 % 3], lanes)
        yield asked(_given(active, sizes), _answer(policy, active, sizes))


def _given(active: np.ndarray, sizes: np.ndarray) -> dict[str, int]:
    return {
        "active": sum(1 << int(lane) for lane in np.flatnonzero(active)),
        **{f"asked_{lane}": int(size) for lane, size in enumerate(sizes)},
    }


def _answer(policy: Any, active: np.ndarray, sizes: np.ndarray) -> dict[str, int]:
    """Ask the policy's plain answer."""
    lanes = np.flatnonzero(active)
    part, offset, size, leader = (np.full(len(lanes), start, np.int64) for start in (-1, 0, 0, -1))
    view = ServeView(
        lanes, sizes[lanes], part, offset, size, leader, policy.parameters(), policy.start_memory(1)
    )  # fmt: skip
    asks = len(lanes) > 0 and policy.plain_answer()(view) > 0 and leader[0] >= 0
    served = part == 0
    return {
        "asks": int(asks),
        "leader": int(lanes[leader[0]]) if asks else 0,
        "total": int(size[served].sum()) if asks else 0,
        "served": sum(1 << int(lane) for lane in lanes[served]),
        **{f"offset_{lane}": int(offset[k]) for k, lane in enumerate(lanes) if served[k]},
    }


MAKERS = [Maker("serve.warp_aggregated", build, cases, size="lanes")]
