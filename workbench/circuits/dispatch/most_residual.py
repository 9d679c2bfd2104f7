"""Most residual: a weighted sum a module, and the first of the largest by a tree of comparators (spec 3, R69-R72).

Inputs: `candidates`, a bit a module, and for each module and resource `left_M_R`, the free amount (or the longest run,
by the lever `of`). Outputs: `any`, and `taken`, the lowest of those with the largest sum; 0 where there is no
candidate. The size is the number of modules and the blocks of each resource, those of an empty module. Weights are
whole numbers. Where the policy normalises, w x left / total of each resource is multiplied by the least common multiple
of the totals, so that nothing is divided and nothing rounds. The policy divides in floating point: `cases` judges the
module only where exact sums say who is first by more than rounding can change.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, asked
from workbench.circuits.words import added, larger_of, widened
from workbench.errors import wrong_value
from workbench.gates.netlist import ZERO
from workbench.streams import Streams

MOST_MODULES = 256
MOST_WEIGHT = 1 << 16
ROUNDING = Fraction(1, 10**12)
"""Relative difference of two sums above which rounding cannot have swapped them."""


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the scores of all modules side by side, and their arg-max."""
    modules, blocks = _size(size)
    weights = _weights(policy, blocks)
    net = Circuit(policy.name, source_of(policy), levers_of(policy), {"MODULES": modules, "RESOURCES": len(blocks)})
    candidates = net.input("candidates", modules)
    bits = sum(weight * count for weight, count in zip(weights, blocks)).bit_length()
    scores = []
    for module in range(modules):
        left = [net.input(f"left_{module}_{r}", count.bit_length()) for r, count in enumerate(blocks)]
        score = net.signal(f"score_{module}", weighted(net, left, weights, bits))
        # The highest bit says that the module has room: whoever has none loses against all that have.
        scores.append(np.append(score, candidates[module]))
    best, place = larger_of(net, scores)
    net.output("any", best[-1:])
    net.output("taken", net.and_(best[-1:], place))
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


def _size(size: Any) -> tuple[int, list[int]]:
    """Return the modules and the blocks of each resource."""
    numbers = list(size) if isinstance(size, Sequence) else [size]
    if len(numbers) < 2 or not all(isinstance(one, int) and one >= 1 for one in numbers):
        raise wrong_value("", "size", "must be the number of modules and the blocks of each resource", size, "16, 128")
    if numbers[0] > MOST_MODULES:
        raise wrong_value("", "modules", f"must be at most {MOST_MODULES} for a circuit", numbers[0], MOST_MODULES)
    return numbers[0], numbers[1:]


def _weights(policy: Any, blocks: list[int]) -> list[int]:
    """Return whole weights, one a resource; normalised ones are multiplied by what takes the place of a division."""
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


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random modules, many of them alike so that there are ties, and whom the policy takes."""
    modules, blocks = _size(size)
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
    weights = _weights(policy, blocks)
    sums = [sum(weight * left for weight, left in zip(weights, row, strict=True)) for row in rows]
    alike = {tuple(row) for row, one in zip(rows, sums, strict=True) if max(sums) - one <= max(sums) * ROUNDING}
    return len(alike) == 1


MAKERS = [Maker("choice.most_residual", build, cases, size="modules and blocks")]
