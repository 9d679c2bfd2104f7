"""Most residual: a weighted sum a module, and the first of the largest by a tree of comparators (spec 3, R69-R72).

Inputs: `candidates`, a bit a module, and for each module and resource `left_M_R`, the free amount (or the longest run,
by the lever `of`). Outputs: `any`, and `taken`, the lowest of those with the largest sum; 0 where there is no
candidate. The size is the number of modules and the blocks of each resource. Weights are whole numbers; a division by
what an empty module has is a multiplication by weights of that ratio, which a circuit is given as weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, asked
from workbench.circuits.words import added, larger_of, widened
from workbench.errors import InputError, wrong_value
from workbench.policies.probes.circuit.netlist import ZERO
from workbench.streams import Streams

MOST_MODULES = 256


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the scores of all modules side by side, and their arg-max."""
    modules, blocks = _size(size)
    weights = _weights(policy, len(blocks))
    net = Circuit(policy.name, source_of(policy), levers_of(policy), {"MODULES": modules, "RESOURCES": len(blocks)})
    candidates = net.input("candidates", modules)
    bits = sum(weight * count for weight, count in zip(weights, blocks)).bit_length()
    scores = []
    for module in range(modules):
        left = [net.input(f"left_{module}_{r}", count.bit_length()) for r, count in enumerate(blocks)]
        score = net.signal(f"score_{module}", _sum(net, left, weights, bits))
        # The highest bit says that the module has room: whoever has none loses against all that have.
        scores.append(np.append(score, candidates[module]))
    best, place = larger_of(net, scores)
    net.output("any", best[-1:])
    net.output("taken", net.and_(best[-1:], place))
    return net


def _sum(net: Circuit, left: list[np.ndarray], weights: list[int], bits: int) -> np.ndarray:
    """Return the weighted sum: a weight is added shifts."""
    total = np.full(bits, ZERO, np.int32)
    for number, weight in zip(left, weights, strict=True):
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


def _weights(policy: Any, resources: int) -> list[int]:
    """Return whole weights, one a resource."""
    if policy.normalise:
        raise InputError(
            "most_residual.normalise divides, which its circuit does not. Nearest: weights of the ratio, as whole "
            "numbers."
        )
    weights = list(policy.weights) or [1.0] * resources
    if len(weights) != resources or any(weight != int(weight) for weight in weights):
        expected = f"must be {resources} whole numbers for a circuit, one a resource"
        raise wrong_value("", "most_residual.weights", expected, policy.weights, tuple(round(one) for one in weights))
    return [int(weight) for weight in weights]


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
        taken = policy.choose(rows.tolist(), modules=candidates.tolist()) if there else 0
        yield asked(given, {"any": int(there), "taken": taken})


MAKERS = [Maker("choice.most_residual", build, cases, size="modules and blocks")]
