"""Circuits of dispatch: priority windows, most residual, least recent energy, rotated split (spec 3).

A counter says which priority is on top; weighted sums and a tree of comparators say which module takes a group; a
division and a turned mask split it over the module's units. Weights are whole numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import (
    Circuit,
    added,
    at_least,
    chosen,
    circuit_after,
    constant,
    equal,
    one_hot,
    output_largest,
    subtracted,
    widened,
)
from workbench.circuits.range_search import below
from workbench.circuits.registry import Maker, sizes_within, within
from workbench.circuits.vectors import Case, Step, asked, leads_clearly
from workbench.errors import wrong_value
from workbench.gates import ONE, ZERO
from workbench.policies.dispatch.choice.view import CLASSES
from workbench.policies.dispatch.priority import PriorityView
from workbench.policies.dispatch.priority_rules import how_many, length
from workbench.streams import Streams

MOST_LEVELS = 64


def build_windows(policy: Any, levels: int) -> Circuit:
    """Build the cyclic counter of the windows for so many priorities, of two registers, and the comparator of a group.

    Input: `level`, the priority of a group, from 1. Output: `rank`, 0 = on top. Registers: `window`, from 0, and
    `left`, the cycles that the window has left. One step is one cycle, the first after a reset is cycle 0.

    References
    ----------
    spec 3, R16-R20.
    """
    lengths = _lengths(policy, levels)
    windows, bits = len(lengths), max(lengths).bit_length()
    place, wide = max((windows - 1).bit_length(), 1), levels.bit_length()
    net = circuit_after(policy, LEVELS=levels, WINDOWS=windows)
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
    policy.check_levels(within("levels", levels, 1, MOST_LEVELS))
    params = policy.parameters()
    return [length(window, levels, params) for window in range(how_many(levels, params))]


def cases_of_windows(policy: Any, levels: int, count: int, seed: int = 0) -> Iterator[Case]:
    """Yield runs of two periods and a bit from a reset on, with a group of some priority in every cycle."""
    draw, cycles = Streams(seed)["priorities"], 2 * sum(_lengths(policy, levels)) + 3
    answer, params = policy.plain_answer(), policy.parameters()
    for _ in range(count):
        drawn = draw.integers(1, levels + 1, cycles).tolist()
        yield [
            Step({"level": one}, {"rank": int(answer(PriorityView(cycle, one, levels, 0, params)))})
            for cycle, one in enumerate(drawn)
        ]


MOST_MODULES = 256
MOST_WEIGHT = 1 << 16


def build_residual(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the weighted sums of all modules side by side, and the first of the largest, by a tree of comparators.

    Inputs: `candidates`, a bit a module, and for each module and resource `left_M_R`, the free amount (or the longest
    run, by the lever `of`). Outputs: `any`, and `taken`, the lowest of those with the largest sum; 0 where there is no
    candidate. The size is the number of modules and the blocks of each resource, those of an empty module.

    Where the policy normalizes, w x left / total of each resource is multiplied by the least common multiple of the
    totals, so that nothing is divided and nothing rounds. The policy divides in floating point: `cases_of_residual`
    judges the module only where exact sums say who is first by more than rounding can change.

    References
    ----------
    spec 3, R69-R72.
    """
    modules, blocks = _size_of_residual(size)
    weights = _weights_of_residual(policy, blocks)
    net = circuit_after(policy, MODULES=modules, RESOURCES=len(blocks))
    candidates = net.input("candidates", modules)
    bits = sum(weight * count for weight, count in zip(weights, blocks)).bit_length()
    scores = []
    for module in range(modules):
        left = [net.input(f"left_{module}_{r}", count.bit_length()) for r, count in enumerate(blocks)]
        scores.append(net.signal(f"score_{module}", weighted(net, left, weights, bits)))
    output_largest(net, "taken", scores, candidates)
    return net


def weighted(net: Circuit, numbers: list[np.ndarray], weights: list[int], bits: int) -> np.ndarray:
    """Return a weighted sum in so many bits: a weight is added shifts."""
    total = np.full(bits, ZERO, np.int32)
    for number, weight in zip(numbers, weights, strict=True):
        for shift in range(weight.bit_length()):
            if weight >> shift & 1:
                moved = np.concatenate([np.full(shift, ZERO, np.int32), number])
                total = added(net, total, widened(moved[:bits], bits), bits)
    return total


def _size_of_residual(size: Any) -> tuple[int, list[int]]:
    """Return the modules and the blocks of each resource."""
    numbers = list(size) if isinstance(size, Sequence) else [size]
    if len(numbers) < 2 or not all(isinstance(one, int) and one >= 1 for one in numbers):
        raise wrong_value("", "size", "must be the number of modules and the blocks of each resource", size, "16, 128")
    if numbers[0] > MOST_MODULES:
        raise wrong_value("", "modules", f"must be at most {MOST_MODULES} for a circuit", numbers[0], MOST_MODULES)
    return numbers[0], numbers[1:]


def _weights_of_residual(policy: Any, blocks: list[int]) -> list[int]:
    """Return whole weights, one a resource; normalized ones are multiplied by what takes the place of a division."""
    weights = list(policy.weights) or [1.0] * len(blocks)
    if len(weights) != len(blocks) or any(weight != int(weight) for weight in weights):
        expected = f"must be {len(blocks)} whole numbers for a circuit, one a resource"
        raise wrong_value("", "most_residual.weights", expected, policy.weights, tuple(round(one) for one in weights))
    whole = [int(weight) for weight in weights]
    if not policy.normalise:
        return whole
    multiple = math.lcm(*blocks)
    if multiple > MOST_WEIGHT:
        expected = f"must have a common multiple up to {MOST_WEIGHT} for a normalised circuit"
        raise wrong_value("", "the blocks of each resource", expected, tuple(blocks))
    return [weight * (multiple // count) for weight, count in zip(whole, blocks, strict=True)]


def cases_of_residual(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random modules, many of them alike so that there are ties, and whom the policy takes."""
    modules, blocks = _size_of_residual(size)
    draw = Streams(seed)["modules"]
    for case in range(count):
        most = [(count_, max(count_ // 8, 1))[case % 2] for count_ in blocks]
        rows = np.stack([draw.integers(0, one + 1, modules) for one in most], axis=1)
        candidates = np.flatnonzero(draw.random(modules) < (1.0, 0.5, 0.2)[case % 3])
        given = {f"left_{m}_{r}": int(rows[m, r]) for m in range(modules) for r in range(len(blocks))}
        given["candidates"] = sum(1 << int(m) for m in candidates)
        there = len(candidates) > 0
        taken = policy.choose(rows.tolist(), modules=candidates.tolist(), totals=blocks) if there else 0
        outputs = {"any": int(there)}
        if clear(policy, blocks, rows[candidates].tolist()):
            outputs["taken"] = taken
        yield asked(given, outputs)


def clear(policy: Any, blocks: list[int], rows: list[list[int]]) -> bool:
    """Return whether rounding cannot change who is first: no division, or a large enough lead over all but copies.

    >>> from workbench.policies.dispatch.choice import MostResidual
    >>> policy = MostResidual(normalise=True)
    >>> clear(policy, [10, 30], [[1, 2], [0, 5]]), clear(policy, [10, 30], [[1, 2], [0, 6]])
    (False, True)
    """
    if not policy.normalise or not rows:
        return True
    weights = _weights_of_residual(policy, blocks)
    sums = [sum(weight * left for weight, left in zip(weights, row, strict=True)) for row in rows]
    return leads_clearly(rows, sums)


def build_energy(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the weighted sums of counters of all modules side by side, and the first of the smallest.

    Inputs: `candidates`, a bit a module, and for each module and class of instructions `recent_M_S`, how many ran in
    the recent past. Outputs: `any`, and `taken`, the lowest of those with the smallest sum; 0 where there is no
    candidate. The size is the number of modules and the bits of a counter. Only the ratios of the weights matter.

    References
    ----------
    spec 3, R74-R80.
    """
    modules, bits = _size_of_energy(size)
    weights = _weights_of_energy(policy)
    net = circuit_after(policy, MODULES=modules, BITS=bits)
    candidates = net.input("candidates", modules)
    width = (sum(weights) * ((1 << bits) - 1)).bit_length()
    left = []
    for module in range(modules):
        recent = [net.input(f"recent_{module}_{s}", bits) for s in range(len(weights))]
        energy = net.signal(f"energy_{module}", weighted(net, recent, weights, width))
        left.append(net.not_(energy))  # largest where the energy is smallest
    output_largest(net, "taken", left, candidates)
    return net


def _size_of_energy(size: Any) -> list[int]:
    what = "the number of modules and the bits of a counter"
    return sizes_within(size, what, "16, 12", modules=(1, MOST_MODULES), bits=(1, 32))


def _weights_of_energy(policy: Any) -> list[int]:
    """Return whole weights, one a class."""
    if any(weight != int(weight) for weight in policy.weights):
        nearest = tuple(round(weight) for weight in policy.weights)
        raise wrong_value("", f"{policy.name}.weights", "must be whole numbers for a circuit", policy.weights, nearest)
    return [int(weight) for weight in policy.weights]


def cases_of_energy(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random counters, many of them alike so that there are ties, and whom the policy takes."""
    modules, bits = _size_of_energy(size)
    draw = Streams(seed)["modules"]
    for case in range(count):
        rows = draw.integers(0, (1 << bits, 2)[case % 2], (modules, len(CLASSES)))
        candidates = np.flatnonzero(draw.random(modules) < (1.0, 0.5, 0.2)[case % 3])
        given = {f"recent_{m}_{s}": int(rows[m, s]) for m in range(modules) for s in range(len(CLASSES))}
        given["candidates"] = sum(1 << int(m) for m in candidates)
        there = len(candidates) > 0
        taken = policy.choose(rows.tolist(), modules=candidates.tolist()) if there else 0
        yield asked(given, {"any": int(there), "taken": taken})


SPLIT_STEPS = 16
"""Groups of a golden case, from a reset on."""


def build_split(policy: Any, size: Sequence[int]) -> Circuit:
    """Build a division by the units, a size mask turned by the pointer, and the pointer's next value.

    Inputs: `waves` of the group, and `dispatched`, whether the module takes it. Outputs: `count_U` for each unit, and
    `after`, the pointer if the group is taken. Register: `pointer`, which moves with a group that is taken. The size is
    the units of a module, and the waves that a unit can hold.

    References
    ----------
    spec 3, R60-R68.
    """
    units, deep = _size_of_split(size)
    net = circuit_after(policy, UNITS=units, WAVES_A_UNIT=deep)
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


def _size_of_split(size: Any) -> list[int]:
    what = "the units of a module and the waves that a unit holds"
    return sizes_within(size, what, "4, 10", units=(1, 64), waves=(1, 1024))


def cases_of_split(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield groups from a reset on, some of which are not taken, and how the policy splits each."""
    units, deep = _size_of_split(size)
    draw = Streams(seed)["groups"]
    for _ in range(count):
        yield list(_steps_of_split(policy, units, deep, draw))


def _steps_of_split(policy: Any, units: int, deep: int, draw: Any) -> Iterator[Step]:
    pointer = policy.first_pointer(0, 0)
    for _ in range(SPLIT_STEPS):
        waves, taken = int(draw.integers(0, units * deep + 1)), bool(draw.random() < 0.7)
        counts, after = policy.split(waves, units, at=pointer, most=units * deep)
        outputs = {f"count_{unit}": number for unit, number in enumerate(counts)}
        yield Step({"waves": waves, "dispatched": int(taken)}, {**outputs, "after": after})
        pointer = after if taken else pointer


MAKERS = [
    Maker("priority.priority_windows", build_windows, cases_of_windows, size="levels"),
    Maker("choice.most_residual", build_residual, cases_of_residual, size="modules and blocks"),
    Maker("choice.least_recent_energy", build_energy, cases_of_energy, size="modules and bits of a counter"),
    Maker("units.rotated_split", build_split, cases_of_split, size="units and waves a unit"),
]
