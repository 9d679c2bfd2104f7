"""Test benches that replay golden vectors on a circuit: in Verilog, and for cocotb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from workbench.circuits.netlist import Circuit
from workbench.circuits.vectors import Case, Step, as_lines
from workbench.circuits.verilog import verilog

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
