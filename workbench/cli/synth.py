"""`workbench synth POLICY`: what a synthesiser makes of a circuit, beside what is counted as it is written."""

from __future__ import annotations

import argparse

from workbench.cli.circuit_arguments import add_one, one
from workbench.cli.command import DONE, Command
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_one(parser)
    parser.add_argument("--seconds", type=float, default=600.0, help="when to give up (default: 600)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.circuits import circuit_of
    from workbench.circuits.synthesis import synthesised

    policy, size = one(given)
    circuit = circuit_of(policy, size)
    counts = synthesised(circuit, given.seconds)._asdict()
    written = {"gates_as_written": circuit.gates, "levels_as_written": circuit.levels}
    row = {"policy": policy.short(), "size": size, **counts, **written}
    if given.json:
        say_json(row)
    else:
        print("\n".join(f"{name:<18}{value}" for name, value in row.items()))
    return DONE


COMMAND = Command(
    "synth", "Gates, levels, flip-flops and relative delay of a circuit, synthesised.", add_arguments, run
)
