"""A probe in three cycles whose gates and registers serve all of them, behind selectors (spec 3, R43, ¶138).

The first cycle forms the groups, the second the chain, the third reduces and decodes. The gates of the first two are of
one kind: the k-th of the one and the k-th of the other are the same gate, whose inputs a selector takes from the state
or from the registers. As gates are in topological order in both, an input comes from a gate of a lower number: nothing
goes round. One bank of registers holds the groups, then the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit

CYCLES = 3


class Stage(NamedTuple):
    """The gates of one cycle, all of one kind, in topological order; wires are those of its own netlist."""

    net: Circuit
    given: np.ndarray
    made: np.ndarray

    def gates(self) -> list[tuple[int, int, int]]:
        """Return the two inputs and the output of each gate."""
        rows = [(row.first, row.second, row.out) for row in self.net.rows]
        return [tuple(map(int, gate)) for row in rows for gate in zip(*row, strict=True)]  # type: ignore[misc]


def stage(inputs: int, build: Callable[[Circuit, np.ndarray], np.ndarray]) -> Stage:
    """Return the gates that a function makes of so many inputs, each wire that it returns once."""
    net = Circuit("stage")
    given = net.input("given", inputs)
    return Stage(net, given, build(net, given))


def served(
    net: Circuit, state: np.ndarray, stages: Sequence[Stage], gate: Callable[[np.ndarray, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Build two stages on one set of gates, and return what the registers hold of the second one.

    Parameters
    ----------
    net : Circuit
        Gets a register `phase`, one-hot and turning from a reset on, and a register `held`.
    state : array
        The inputs of the first stage; those of the second are what the first one left in the registers.
    gate : callable
        The kind of all of their gates.
    """
    first, second = stages
    phase = net.register("phase", CYCLES, reset=1)
    net.follow("phase", np.roll(phase, 1))
    held = net.register("held", max(first.made.size, second.made.size))
    wires = [_known(one, given) for one, given in zip(stages, (state, held), strict=True)]
    _shared(net, [one.gates() for one in stages], wires, phase[:1], gate)
    grouped, chained = (known[one.made] for one, known in zip(stages, wires, strict=True))
    again = [np.concatenate([one, held[one.size :]]) for one in (grouped, chained)]
    net.follow("held", net.select(phase[:1], again[0], np.where(np.arange(held.size) < chained.size, again[1], held)))
    return held[: chained.size]


def _known(one: Stage, given: np.ndarray) -> np.ndarray:
    """Return the wires of the whole circuit that stand for those of a stage, its gates not yet among them."""
    known = np.arange(one.net.wires, dtype=np.int32)
    known[one.given] = given[: one.given.size]
    return known


def _shared(
    net: Circuit,
    gates: Sequence[Sequence[tuple[int, int, int]]],
    wires: Sequence[np.ndarray],
    begins: np.ndarray,
    gate: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> None:
    """Make one gate of the k-th of either stage, with a selector before each input that differs."""
    for k in range(max(map(len, gates))):
        serve = [(known, one[k]) for known, one in zip(wires, gates, strict=True) if k < len(one)]
        inputs = [[known[[wire]] for known, given in serve for wire in [given[side]]] for side in (0, 1)]
        chosen = [one[0] if len(one) == 1 else net.select(begins, one[0], one[1]) for one in inputs]
        made = gate(*chosen)
        for known, (_, _, out) in serve:
            known[out] = made[0]
