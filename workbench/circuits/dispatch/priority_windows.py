"""Priority windows: a cyclic counter of two registers, and a comparator a group (spec 3, R16-R20).

Input: `level`, the priority of a group, from 1. Output: `rank`, 0 = on top. Registers: `window`, from 0, and
`left`, the cycles that the window has left. One step is one cycle, the first after a reset is cycle 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, Step
from workbench.circuits.words import added, chosen, constant, equal, one_hot, subtracted
from workbench.errors import wrong_value
from workbench.gates.netlist import ONE
from workbench.policies.dispatch.priority import PriorityView, how_many, length
from workbench.streams import Streams

MOST_LEVELS = 64


def build(policy: Any, levels: int) -> Circuit:
    """Build the counter of the windows for so many priorities."""
    lengths = _lengths(policy, levels)
    windows, bits = len(lengths), max(lengths).bit_length()
    place, wide = max((windows - 1).bit_length(), 1), levels.bit_length()
    net = Circuit(policy.name, source_of(policy), levers_of(policy), {"LEVELS": levels, "WINDOWS": windows})
    priority = net.input("level", wide)
    window, left = net.register("window", place), net.register("left", bits, lengths[0])
    _count(net, lengths, window, left)
    top = [equal(net, priority, constant(k + 1, wide)) for k in range(min(windows, levels))]
    raised = net.signal("raised", net.any_of(net.and_(np.concatenate(top), one_hot(net, window, windows)[: len(top)])))
    net.output("rank", net.and_(net.not_(raised), priority))
    return net


def _count(net: Circuit, lengths: list[int], window: np.ndarray, left: np.ndarray) -> None:
    """Let the counter run: a cycle less, and at the last one the next window with all of its cycles."""
    windows, place, bits = len(lengths), window.size, left.size
    ends = net.signal("ends", equal(net, left, constant(1, bits)))
    at_last = equal(net, window, constant(windows - 1, place))
    following = net.and_(net.not_(at_last), added(net, window, np.array([ONE], np.int32), place))
    fresh = chosen(net, one_hot(net, following, windows), [constant(one, bits) for one in lengths])
    net.follow("window", net.select(ends, following, window))
    net.follow("left", net.select(ends, fresh, subtracted(net, left, constant(1, bits), bits)))


def _lengths(policy: Any, levels: int) -> list[int]:
    """Return the cycles of each window, after refusing a size that a circuit cannot have."""
    if not isinstance(levels, int) or not 1 <= levels <= MOST_LEVELS:
        nearest = min(max(levels, 1), MOST_LEVELS) if isinstance(levels, int) else MOST_LEVELS
        raise wrong_value("", "levels", f"must be from 1 to {MOST_LEVELS} for a circuit", levels, nearest)
    policy.check_levels(levels)
    params = policy.parameters()
    return [length(window, levels, params) for window in range(how_many(levels, params))]


def cases(policy: Any, levels: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield runs of two periods and a bit from a reset on, with a group of some priority in every cycle."""
    draw, cycles = Streams(seed)["priorities"], 2 * sum(_lengths(policy, levels)) + 3
    answer, params = policy.plain_answer(), policy.parameters()
    for _ in range(count):
        drawn = draw.integers(1, levels + 1, cycles).tolist()
        yield [
            Step({"level": one}, {"rank": int(answer(PriorityView(cycle, one, levels, 0, params)))})
            for cycle, one in enumerate(drawn)
        ]


MAKERS = [Maker("priority.priority_windows", build, cases, size="levels")]
