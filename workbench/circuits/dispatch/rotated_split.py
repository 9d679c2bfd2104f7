"""Rotated split: a division by the units, a size mask turned by the pointer, and the pointer (spec 3, R60-R68).

Inputs: `waves` of the group, and `dispatched`, whether the module takes it. Outputs: `count_U` for each unit, and
`after`, the pointer if the group is taken. Register: `pointer`, which moves with a group that is taken.
The size is the units of a module, and the waves that a unit can hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.placement.memory import below
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, Step
from workbench.circuits.words import added, at_least, constant, subtracted, widened
from workbench.errors import wrong_value
from workbench.streams import Streams

MOST_UNITS, MOST_WAVES = 64, 1024
STEPS = 16
"""Groups of a golden case, from a reset on."""


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the counts of all units side by side, and the pointer's next value."""
    units, deep = _size(size)
    net = Circuit(policy.name, source_of(policy), levers_of(policy), {"UNITS": units, "WAVES_A_UNIT": deep})
    waves, dispatched = net.input("waves", (units * deep).bit_length()), net.input("dispatched")
    pointer = net.register("pointer", max((units - 1).bit_length(), 1))
    each, more = _divided(net, waves, units)
    after = net.signal("moved", _moved(net, policy, waves, more, pointer, units))
    begin = after if policy.as_written else pointer
    first = begin if policy.pointer == "head" else _wrapped(net, begin, constant(1, pointer.size), units)
    extra = net.signal("extra", _turned(net, below(net, more, units), first))
    for unit in range(units):
        net.output(f"count_{unit}", added(net, each, extra[unit : unit + 1], deep.bit_length()))
    kept = net.select(net.and_(dispatched, net.any_of(waves)), after, pointer)
    net.follow("pointer", kept)
    net.output("after", net.select(net.any_of(waves), after, pointer))
    return net


def _moved(net: Circuit, policy: Any, waves: Any, more: Any, pointer: Any, units: int) -> np.ndarray:
    """Return the pointer after a group, by the formula as it is meant or as it is written."""
    if not policy.as_written:
        return _wrapped(net, pointer, more, units)
    if policy.pointer == "head":
        more = _divided(net, added(net, waves, constant(1, 1), len(waves) + 1), units)[1]
    after = _wrapped(net, pointer, more, units)
    return after if policy.reading == "B" else net.select(net.any_of(after), after, pointer)


def _divided(net: Circuit, number: Any, by: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide by a constant: from the highest multiple down, what fits is taken off; return quotient and remainder."""
    rest, quotient = np.asarray(number, np.int32), []
    for shift in range(max(len(rest) - by.bit_length(), 0), -1, -1):
        multiple = constant(by << shift, max(len(rest), (by << shift).bit_length()))
        fits = at_least(net, rest, multiple)
        rest = net.select(fits, subtracted(net, rest, multiple, len(rest)), rest)
        quotient.append(fits)
    return np.concatenate(quotient[::-1]), widened(rest, max((by - 1).bit_length(), 1))


def _wrapped(net: Circuit, a: Any, b: Any, units: int) -> np.ndarray:
    """Return a + b of numbers below the units, less the units where it reaches them."""
    bits = max((units - 1).bit_length(), 1)
    total = added(net, a, b, bits + 1)
    limit = constant(units, bits + 1)
    return net.select(at_least(net, total, limit), subtracted(net, total, limit, bits + 1), total)[:bits]


def _turned(net: Circuit, wires: Any, by: Any) -> np.ndarray:
    """Return a vector turned towards higher positions: what leaves at the top comes in at the bottom."""
    turned = np.asarray(wires, np.int32)
    for j, bit in enumerate(by):
        turned = net.select(np.array([bit]), np.roll(turned, 1 << j), turned)
    return turned


def _size(size: Any) -> tuple[int, int]:
    if not isinstance(size, Sequence) or len(size) != 2:
        raise wrong_value("", "size", "must be the units of a module and the waves that a unit holds", size, "4, 10")
    for name, number, most in zip(("units", "waves"), size, (MOST_UNITS, MOST_WAVES), strict=True):
        if not 1 <= number <= most:
            raise wrong_value("", name, f"must be from 1 to {most} for a circuit", number, min(max(number, 1), most))
    return size[0], size[1]


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield groups from a reset on, some of which are not taken, and how the policy splits each."""
    units, deep = _size(size)
    draw = Streams(seed)["groups"]
    for _ in range(count):
        yield list(_steps(policy, units, deep, draw))


def _steps(policy: Any, units: int, deep: int, draw: Any) -> Iterator[Step]:
    pointer = policy.first_pointer(0, 0)
    for _ in range(STEPS):
        waves, taken = int(draw.integers(0, units * deep + 1)), bool(draw.random() < 0.7)
        counts, after = policy.split(waves, units, at=pointer, most=units * deep)
        outputs = {f"count_{unit}": number for unit, number in enumerate(counts)}
        yield Step({"waves": waves, "dispatched": int(taken)}, {**outputs, "after": after})
        pointer = after if taken else pointer


MAKERS = [Maker("units.rotated_split", build, cases, size="units and waves a unit")]
