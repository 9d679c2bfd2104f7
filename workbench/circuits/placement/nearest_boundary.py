"""Nearest boundary whole: window tests, both searches, the comparator, the selector, the bitmap (spec 1, R9-R23).

With `tie: alternate` one register more, `high_next`, says which side the next tie goes to; it turns where a tie between
two starts is granted. `scan_order` says nothing to a circuit that tests all windows side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.placement.memory import Memory, begun, cases, finish
from workbench.circuits.placement.searches import Found, highest, lowest
from workbench.circuits.placement.windows import starts
from workbench.circuits.registry import Maker
from workbench.circuits.words import added, constant, equal, exceeds, subtracted
from workbench.gates.netlist import ONE, ZERO


def build(policy: Any, segments: int) -> Circuit:
    """Build the allocator of a memory that places nearest to either boundary."""
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


MAKERS = [Maker("placement.nearest_boundary", build, cases, size="segments")]
