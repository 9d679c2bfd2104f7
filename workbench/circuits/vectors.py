"""Golden vectors of a circuit, step by step from a reset, and the simulator that is compared with them.

Vectors hold what a circuit is given and what its policy answers. The simulator is plain Python: many states side by
side, 64 to a word. Test benches that replay vectors are written next to the Verilog (`verilog.write_bench`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from workbench.circuits.netlist import Circuit
from workbench.gates import ONE, output


class Step(NamedTuple):
    """One step: every input, and the outputs that the policy says; what is not named there is not judged."""

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


Case = list[Step]
"""The steps from a reset on."""


class Difference(NamedTuple):
    """Where a circuit says something else than its policy."""

    case: int
    step: int
    output: str
    inputs: Mapping[str, int]
    expected: int
    got: int

    def __str__(self) -> str:
        """Return one sentence."""
        given = ", ".join(f"{name}={value:#x}" for name, value in self.inputs.items())
        place = f"case {self.case}, step {self.step} ({given})"
        return f"{place}: the circuit says {self.output} = {self.got}, the policy {self.expected}"


def asked(inputs: Mapping[str, int], outputs: Mapping[str, int], latency: int = 0) -> Case:
    """Return the case of one question: the inputs stay, and the outputs are judged once they belong to them.

    >>> asked({"state": 5}, {"report": 1}, latency=1)
    [Step(inputs={'state': 5}, outputs={}), Step(inputs={'state': 5}, outputs={'report': 1})]
    """
    return [Step(inputs, outputs if step == latency else {}) for step in range(latency + 1)]


def differences(circuit: Circuit, cases: Iterable[Case]) -> Iterator[Difference]:
    """Yield the differences of a circuit from golden vectors; cases of one length are simulated side by side."""
    by_length: dict[int, list[tuple[int, Case]]] = {}
    for number, case in enumerate(cases):
        by_length.setdefault(len(case), []).append((number, case))
    for together in by_length.values():
        yield from _side_by_side(circuit, together)


def _side_by_side(circuit: Circuit, cases: list[tuple[int, Case]]) -> Iterator[Difference]:
    simulator = Simulator(circuit, len(cases))
    for step in range(len(cases[0][1])):
        given = {name: [case[step].inputs[name] for _, case in cases] for name in circuit.ports}
        outputs = simulator.step(given)
        for lane, (number, case) in enumerate(cases):
            for name, expected in case[step].outputs.items():
                if outputs[name][lane] != expected:
                    yield Difference(number, step, name, case[step].inputs, expected, outputs[name][lane])


ROUNDING = Fraction(1, 10**12)
"""Relative difference of two sums above which rounding cannot have swapped them."""


def leads_clearly(rows: Sequence[Sequence[int]], sums: Sequence[Any]) -> bool:
    """Return whether rounding cannot change which row has the largest sum: none comes close to it but copies of it."""
    first = max(sums)
    return len({tuple(row) for row, one in zip(rows, sums, strict=True) if first - one <= first * ROUNDING}) == 1


def as_lines(cases: Iterable[Case]) -> Iterator[str]:
    """Yield golden vectors as JSON lines: case, step, inputs, outputs; numbers are hexadecimal text.

    >>> next(as_lines([asked({"state": 10}, {"report": 1})]))
    '{"case": 0, "step": 0, "inputs": {"state": "a"}, "outputs": {"report": "1"}}'
    """
    for number, case in enumerate(cases):
        for step, (inputs, outputs) in enumerate(case):
            row = {"case": number, "step": step, "inputs": _hexadecimal(inputs), "outputs": _hexadecimal(outputs)}
            yield json.dumps(row)


def _hexadecimal(numbers: Mapping[str, int]) -> dict[str, str]:
    return {name: f"{value:x}" for name, value in numbers.items()}


WORD = 64
ALL = np.uint64(2**64 - 1)


class Simulator:
    """A circuit that runs, so many lanes side by side.

    >>> from workbench.circuits.netlist import Circuit
    >>> circuit = Circuit("both")
    >>> circuit.output("out", circuit.and_(circuit.input("a", 4), circuit.input("b", 4)))
    >>> Simulator(circuit, lanes=2).step({"a": [12, 15], "b": [10, 1]})
    {'out': [8, 1]}
    """

    def __init__(self, circuit: Circuit, lanes: int = 1) -> None:
        self.circuit, self.lanes = circuit, lanes
        self.values = np.zeros((circuit.wires, -(-lanes // WORD)), np.uint64)
        self.values[ONE] = ALL
        self.reset()

    def reset(self) -> None:
        """Put every register to its reset value."""
        for register in self.circuit.registers.values():
            bits = [register.reset >> j & 1 for j in range(register.wires.size)]
            self.values[register.wires] = np.where(np.array(bits, bool)[:, None], ALL, np.uint64(0))

    def step(self, inputs: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
        """Apply the inputs of every lane, return the outputs, then let the registers take their next state."""
        self.settle(inputs)
        outputs = {name: self.read(wires) for name, wires in self.circuit.outputs.items()}
        following = [self.values[one.following] for one in self.circuit.registers.values()]
        for register, values in zip(self.circuit.registers.values(), following, strict=True):
            self.values[register.wires] = values
        return outputs

    def settle(self, inputs: Mapping[str, Sequence[int]]) -> None:
        """Compute every wire from the inputs and from what the registers hold."""
        for name, wires in self.circuit.ports.items():
            self.values[wires] = spread(inputs[name], wires.size)
        for row in self.circuit.rows:
            self.values[row.out] = output(row, self.values)

    def read(self, wires: np.ndarray) -> list[int]:
        """Return the number that some wires carry, in every lane."""
        return gathered(self.values[wires], self.lanes)


def spread(numbers: Sequence[int], bits: int) -> np.ndarray:
    """Return the bits of numbers, a row a bit, 64 numbers to a word: uint64[bits, words]."""
    size = -(-bits // 8)
    held = b"".join((int(number) & (1 << bits) - 1).to_bytes(size, "little") for number in numbers)
    rows = np.unpackbits(np.frombuffer(held, np.uint8).reshape(len(numbers), size), axis=1, bitorder="little")
    columns = np.packbits(rows[:, :bits].T, axis=1, bitorder="little")
    short = -columns.shape[1] % 8
    return np.ascontiguousarray(np.pad(columns, ((0, 0), (0, short)))).view(np.uint64)


def gathered(rows: np.ndarray, lanes: int) -> list[int]:
    """Return the numbers whose bits `spread` gave."""
    if not rows.shape[0]:
        return [0] * lanes
    bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little")[:, :lanes]
    held = np.packbits(bits.T, axis=1, bitorder="little")
    return [int.from_bytes(number.tobytes(), "little") for number in held]
