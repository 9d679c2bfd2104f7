"""`workbench circuit POLICY`: a mechanism as Verilog, golden vectors, a test bench."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.circuit_arguments import add_one, one
from workbench.cli.command import DONE, Command

if TYPE_CHECKING:
    from workbench.circuits.registry import Size
    from workbench.circuits.vectors import Case
    from workbench.policies.policy import Policy

    Cases = Callable[[], list[Case]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_one(parser)
    kinds = ("verilog", "vectors", "bench")
    parser.add_argument("--to", choices=kinds, default="verilog", help="what is written (default: verilog)")
    parser.add_argument(
        "--count", metavar="N", type=int, default=100, help="random states of the vectors (default: 100)"
    )
    parser.add_argument(
        "--seed", metavar="N", type=int, default=0, help="of the random states, or the run (default: 0)"
    )
    parser.add_argument(
        "--run",
        metavar="SWEEP",
        help="the vectors are the requests and grants of a run: of the first point with this placement",
    )
    parser.add_argument("--out", metavar="PATH", type=Path, help="a file, of a bench a folder (default: the terminal)")


def run(given: argparse.Namespace) -> int:
    policy, size, cases = _asked_for(given)
    if given.to == "bench":
        _bench(policy, size, cases(), given)
        return DONE
    text = _text(policy, size, cases, given)
    if given.out is None:
        print(text, end="")
    else:
        given.out.write_text(text, "utf-8")
        print(f"circuit: {given.out}")
    return DONE


def _asked_for(given: argparse.Namespace) -> tuple[Policy, Size, Cases]:
    """Return a policy, a size, and what gives its vectors: random states, or the grants of a run."""
    from workbench.circuits import cases_of

    policy, size = one(given)
    if given.run is None:
        return policy, size, lambda: cases_of(policy, size, given.count, given.seed)
    from workbench.api import planned
    from workbench.studies.replayed_grants import replayed, setup_with

    run = replayed(setup_with(planned(given.run), policy), given.seed)
    return run.policy, run.segments, lambda: [run.case]


def _text(policy: Policy, size: Size, cases: Cases, given: argparse.Namespace) -> str:
    from workbench.circuits import as_lines, circuit_of, verilog

    circuit = circuit_of(policy, size)
    return verilog(circuit) if given.to == "verilog" else "".join(f"{line}\n" for line in as_lines(cases()))


def _bench(policy: Policy, size: Size, cases: list[Case], given: argparse.Namespace) -> None:
    from workbench.circuits import circuit_of
    from workbench.circuits.vectors import write_bench

    circuit = circuit_of(policy, size)
    folder = given.out or Path(f"bench_{circuit.name}")
    for path in write_bench(folder, circuit, cases):
        print(f"circuit: {path}")


COMMAND = Command("circuit", "A mechanism as Verilog, golden vectors or a test bench.", add_arguments, run)
