"""Least recent energy: a weighted sum of counters a module, and the first of the smallest (spec 3, R74-R80).

Inputs: `candidates`, a bit a module, and for each module and class of instructions `recent_M_S`, how many ran in the
recent past. Outputs: `any`, and `taken`, the lowest of those with the smallest sum; 0 where there is no candidate. The
size is the number of modules and the bits of a counter. Weights are whole numbers, of which only the ratios matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from workbench.circuits.dispatch.most_residual import MOST_MODULES, weighted
from workbench.circuits.netlist import Circuit
from workbench.circuits.registry import Maker
from workbench.circuits.sources import levers_of, source_of
from workbench.circuits.vectors import Case, asked
from workbench.circuits.words import larger_of
from workbench.errors import wrong_value
from workbench.policies.dispatch.choice.question import CLASSES
from workbench.streams import Streams

MOST_BITS = 32


def build(policy: Any, size: Sequence[int]) -> Circuit:
    """Build the energies of all modules side by side, and the arg-max of what they leave."""
    modules, bits = _size(size)
    weights = _weights(policy)
    net = Circuit(policy.name, source_of(policy), levers_of(policy), {"MODULES": modules, "BITS": bits})
    candidates = net.input("candidates", modules)
    width = (sum(weights) * ((1 << bits) - 1)).bit_length()
    left = []
    for module in range(modules):
        recent = [net.input(f"recent_{module}_{s}", bits) for s in range(len(weights))]
        energy = net.signal(f"energy_{module}", weighted(net, recent, weights, width))
        # The complement is largest where the energy is smallest; the highest bit says that the module has room.
        left.append(np.append(net.not_(energy), candidates[module]))
    best, place = larger_of(net, left)
    net.output("any", best[-1:])
    net.output("taken", net.and_(best[-1:], place))
    return net


def _size(size: Any) -> tuple[int, int]:
    """Return the modules and the bits of a counter."""
    numbers = list(size) if isinstance(size, Sequence) else [size]
    if len(numbers) != 2 or not all(isinstance(one, int) and one >= 1 for one in numbers):
        raise wrong_value("", "size", "must be the number of modules and the bits of a counter", size, "16, 12")
    for name, number, most in zip(("modules", "bits"), numbers, (MOST_MODULES, MOST_BITS), strict=True):
        if number > most:
            raise wrong_value("", name, f"must be at most {most} for a circuit", number, most)
    return numbers[0], numbers[1]


def _weights(policy: Any) -> list[int]:
    """Return whole weights, one a class."""
    if any(weight != int(weight) for weight in policy.weights):
        nearest = tuple(round(weight) for weight in policy.weights)
        raise wrong_value("", f"{policy.name}.weights", "must be whole numbers for a circuit", policy.weights, nearest)
    return [int(weight) for weight in policy.weights]


def cases(policy: Any, size: Sequence[int], count: int, seed: int = 0) -> Iterator[Case]:
    """Yield random counters, many of them alike so that there are ties, and whom the policy takes."""
    modules, bits = _size(size)
    draw = Streams(seed)["modules"]
    for case in range(count):
        rows = draw.integers(0, (1 << bits, 2)[case % 2], (modules, len(CLASSES)))
        candidates = np.flatnonzero(draw.random(modules) < (1.0, 0.5, 0.2)[case % 3])
        given = {f"recent_{m}_{s}": int(rows[m, s]) for m in range(modules) for s in range(len(CLASSES))}
        given["candidates"] = sum(1 << int(m) for m in candidates)
        there = len(candidates) > 0
        taken = policy.choose(rows.tolist(), modules=candidates.tolist()) if there else 0
        yield asked(given, {"any": int(there), "taken": taken})


MAKERS = [Maker("choice.least_recent_energy", build, cases, size="modules and bits of a counter")]
