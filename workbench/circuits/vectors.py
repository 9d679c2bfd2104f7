"""Golden vectors: what a circuit is given step by step from a reset, and what its policy answers."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from workbench.circuits.netlist import Circuit
from workbench.circuits.simulator import Simulator


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
    """Yield where a circuit differs from golden vectors; cases of one length are simulated side by side."""
    by_length: dict[int, list[tuple[int, Case]]] = {}
    for number, case in enumerate(cases):
        by_length.setdefault(len(case), []).append((number, case))
    for together in by_length.values():
        yield from _side_by_side(circuit, together)


def _side_by_side(circuit: Circuit, cases: list[tuple[int, Case]]) -> Iterator[Difference]:
    simulator = Simulator(circuit, len(cases))
    for step in range(len(cases[0][1])):
        given = {name: [case[step].inputs[name] for _, case in cases] for name in circuit.ports}
        outputs_ = simulator.step(given)
        for lane, (number, case) in enumerate(cases):
            for output, expected in case[step].outputs.items():
                if outputs_[output][lane] != expected:
                    yield Difference(number, step, output, case[step].inputs, expected, outputs_[output][lane])


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
