"""Golden vectors of a circuit, step by step from a reset, the test benches that replay them, and a simulator.

They hold what a circuit is given and what its policy answers. Test benches are for cocotb, and in Verilog for any
simulator. The simulator is plain Python: many states side by side, 64 to a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from workbench.circuits.netlist import XOR, Circuit
from workbench.circuits.verilog import verilog
from workbench.gates import NAND, NOT, ONE, OR, Row


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


COCOTB = '''"""Replays vectors.jsonl on {name}.v: `make`, with cocotb and iverilog or verilator."""

import json
from pathlib import Path

import cocotb
from cocotb.triggers import Timer

LINES = [json.loads(line) for line in Path(__file__).with_name("vectors.jsonl").read_text().splitlines()]
CLOCKED = {clocked}


async def reset(dut):
    if CLOCKED:
        dut.rst.value = 1
        await edge(dut)
        dut.rst.value = 0


async def edge(dut):
    dut.clk.value = 0
    await Timer(1, "ns")
    dut.clk.value = 1
    await Timer(1, "ns")
    dut.clk.value = 0


@cocotb.test()
async def every_vector_is_answered(dut):
    for line in LINES:
        if line["step"] == 0:
            await reset(dut)
        for name, value in line["inputs"].items():
            getattr(dut, name).value = int(value, 16)
        await Timer(1, "ns")
        for name, value in line["outputs"].items():
            got = int(getattr(dut, name).value)
            place = f"case {{line['case']}}, step {{line['step']}}"
            assert got == int(value, 16), f"{{place}}: {{name}} = {{got:x}}, not {{value}}"
        if CLOCKED:
            await edge(dut)
'''

MAKEFILE = """SIM ?= icarus
TOPLEVEL_LANG = verilog
VERILOG_SOURCES = {name}.v
TOPLEVEL = {name}
MODULE = test_{name}
include $(shell cocotb-config --makefiles)/Makefile.sim
"""


def write_bench(folder: Path, circuit: Circuit, cases: Sequence[Case]) -> list[Path]:
    """Write the Verilog, golden vectors, the cocotb test bench with its Makefile, and one in Verilog alone.

    Returns
    -------
    list of Path
        What was written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = circuit.name
    texts = {
        f"{name}.v": verilog(circuit),
        "vectors.jsonl": "".join(f"{line}\n" for line in as_lines(cases)),
        f"test_{name}.py": COCOTB.format(name=name, clocked=bool(circuit.registers)),
        "Makefile": MAKEFILE.format(name=name),
        f"bench_{name}.v": verilog_bench(circuit, cases),
    }
    for file, text in texts.items():
        (folder / file).write_text(text, "utf-8")
    return [folder / file for file in texts]


def verilog_bench(circuit: Circuit, cases: Sequence[Case]) -> str:
    """Return a test bench that prints each wrong answer and, at the end, how many there were.

    >>> from workbench.circuits import asked, circuit_of
    >>> from workbench.policies.probes import ExactRun
    >>> text = verilog_bench(circuit_of(ExactRun(), 4), [asked({"state": 7}, {"report": 3})])
    >>> print(*(line.strip() for line in text.splitlines() if "!==" in line))
    if (report !== 3'h3) begin wrong = wrong + 1; $display("case 0, step 0: report = %h", report); end
    """
    return "\n".join(_bench_lines(circuit, cases)) + "\n"


def _bench_lines(circuit: Circuit, cases: Sequence[Case]) -> Iterator[str]:
    yield f"module bench_{circuit.name};"
    yield "    integer wrong = 0;"
    clocked = ["clk", "rst"] if circuit.registers else []
    yield from (f"    reg {name} = 0;" for name in clocked)
    yield from (f"    reg [{wires.size - 1}:0] {name} = 0;" for name, wires in circuit.ports.items())
    yield from (f"    wire [{wires.size - 1}:0] {name};" for name, wires in circuit.outputs.items())
    ports = ", ".join(f".{name}({name})" for name in (*clocked, *circuit.ports, *circuit.outputs))
    yield f"    {circuit.name} circuit ({ports});"
    yield "    initial begin"
    for number, case in enumerate(cases):
        if clocked:
            yield "        rst = 1; #1 clk = 1; #1 clk = 0; rst = 0;"
        for place, step in enumerate(case):
            yield from _step_lines(circuit, f"case {number}, step {place}", step)
    yield '        $display("%0d wrong", wrong);'
    yield "        $finish;"
    yield "    end"
    yield "endmodule"


def _step_lines(circuit: Circuit, place: str, step: Step) -> Iterator[str]:
    given = " ".join(f"{name} = {circuit.ports[name].size}'h{step.inputs[name]:x};" for name in circuit.ports)
    yield f"        {given} #1;"
    for name, value in step.outputs.items():
        expected = f'begin wrong = wrong + 1; $display("{place}: {name} = %h", {name}); end'
        yield f"        if ({name} !== {circuit.outputs[name].size}'h{value:x}) {expected}"
    if circuit.registers:
        yield "        clk = 1; #1 clk = 0;"


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
            self.values[row.out] = _output(row, self.values)

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


def _output(row: Row, values: np.ndarray) -> np.ndarray:
    if row.kind == NOT:
        return ~values[row.first]
    first, second = values[row.first], values[row.second]
    if row.kind == OR:
        return first | second
    if row.kind == XOR:
        return first ^ second
    return ~(first & second) if row.kind == NAND else first & second
