"""`workbench prove A B`: whether two circuits compute one function, by a solver."""

from __future__ import annotations

import argparse
import sys

from workbench.cli.circuit_arguments import INLINE, add_size, inline
from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help=INLINE)
    parser.add_argument("second", metavar="B", help="the other one")
    add_size(parser)
    parser.add_argument("--seconds", type=float, default=600.0, help="when the solver gives up (default: 600)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.circuits.proof import answers, prove

    (first, one), (second, other) = inline(given.first, given.size), inline(given.second, given.size)
    if sys.stderr.isatty():
        print(f"asking the solver, for {given.seconds:g} s at most", file=sys.stderr)
    proof = prove(one, other, given.seconds)
    row = {"first": first, "second": second, "size": given.size, **proof._asdict()}
    if given.json:
        say_json(row)
    else:
        print(f"{first} and {second} at {given.size}: {proof.verdict} ({proof.way}, {proof.seconds} s)")
        for name, value in proof.counterexample.items():
            print(f"    {name} = {value:#x}")
        for name, values in answers((one, other), proof.counterexample).items():
            print(f"    {name}: {first} says {values[0]:#x}, {second} {values[1]:#x}")
    return SOME_FAILED if proof.verdict == "different" else DONE


COMMAND = Command(
    "prove",
    "Whether two circuits compute one function, proven by SAT (exit status 1: they differ).",
    add_arguments,
    run,
)
