"""`workbench circuit POLICY`: a mechanism as Verilog, golden vectors, a test bench."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.circuit_arguments import add_one, one
from workbench.cli.command import DONE, Command

if TYPE_CHECKING:
    from workbench.circuits.registry import Size
    from workbench.policies.policy import Policy


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_one(parser)
    kinds = ("verilog", "vectors", "bench")
    parser.add_argument("--to", choices=kinds, default="verilog", help="what is written (default: verilog)")
    parser.add_argument(
        "--count", metavar="N", type=int, default=100, help="random states of the vectors (default: 100)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the random states (default: 0)")
    parser.add_argument("--out", metavar="PATH", type=Path, help="a file, of a bench a folder (default: the terminal)")


def run(given: argparse.Namespace) -> int:
    policy, size = one(given)
    if given.to == "bench":
        _bench(policy, size, given)
        return DONE
    text = _text(policy, size, given)
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_text(text, "utf-8")
        print(f"circuit: {given.out}")
    return DONE


def _text(policy: Policy, size: Size, given: argparse.Namespace) -> str:
    from workbench.circuits import as_lines, cases_of, circuit_of, verilog

    circuit = circuit_of(policy, size)
    if given.to == "verilog":
        return verilog(circuit)
    return "".join(f"{line}\n" for line in as_lines(cases_of(policy, size, given.count, given.seed)))


def _bench(policy: Policy, size: Size, given: argparse.Namespace) -> None:
    from workbench.circuits import cases_of, circuit_of
    from workbench.circuits.bench import write_bench

    circuit = circuit_of(policy, size)
    folder = given.out or Path(f"bench_{circuit.name}")
    for path in write_bench(folder, circuit, cases_of(policy, size, given.count, given.seed)):
        print(f"circuit: {path}")


COMMAND = Command("circuit", "A mechanism as Verilog, golden vectors or a test bench.", add_arguments, run)
