"""`workbench circuit write`, `circuit synth` and `circuit prove`: a mechanism as hardware.

As Verilog, golden vectors or a test bench. The figures of a synthesizer, and the counts of the circuit as it is
written. Whether two circuits compute one function, by a solver.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import add_output_arguments, say_json, say_lines, say_table
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.circuits import Circuit
    from workbench.circuits.registry import Size
    from workbench.circuits.vectors import Case
    from workbench.policies.policy import Policy


INLINE = "POLICY or POLICY:LEVER=VALUE:..., such as exact_run:encoding=free0; FILE.py:CLASS of yours"

COLUMNS = {
    "policy": "policy",
    "area_gates": "gates",
    "levels": "levels",
    "registers": "flip-flops",
    "relative_area": "area",
    "relative_delay": "delay",
    "gates_as_written": "as written",
}
"""Of a table of several circuits, with what they are called there."""

KEY = (
    "gates of two inputs; area in NAND gates, delay in inverters that drive four (FO4), both of the project's own cells"
)


def _arguments_of_circuit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "policy", metavar="POLICY", help="such as exact_run; with its question: probe.exact_run; FILE.py:CLASS"
    )
    parser.add_argument("--set", metavar="LEVER=VALUE", action="append", default=[], help="a lever; may be repeated")
    add_size(parser)
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
    add_output_arguments(parser)


def _run_circuit(args: argparse.Namespace) -> int:
    from workbench.circuits import as_lines, circuit_of, verilog
    from workbench.circuits.testbench import write_bench

    policy, size, cases = _requested(args)
    circuit = circuit_of(policy, size)
    if args.to == "bench":
        _say_written(circuit.name, write_bench(args.out or Path(f"bench_{circuit.name}"), circuit, cases()), args.json)
        return DONE
    text = verilog(circuit) if args.to == "verilog" else "".join(f"{line}\n" for line in as_lines(cases()))
    if args.out is not None:
        args.out.write_text(text, "utf-8")
        _say_written(circuit.name, [args.out], args.json)
    elif args.json:
        say_json({"circuit": circuit.name, "text": text})
    else:
        print(text, end="")
    return DONE


def _say_written(name: str, paths: Sequence[Path], as_json: bool) -> None:
    if as_json:
        say_json({"circuit": name, "files": [str(path) for path in paths]})
    else:
        print("\n".join(f"circuit: {path}" for path in paths))


def _requested(args: argparse.Namespace) -> tuple[Policy, Size, Callable[[], list[Case]]]:
    """Return a policy, a size, and what gives its vectors: random states, or the grants of a run."""
    from workbench.circuits import cases_of
    from workbench.circuits.registry import size_read

    policy, size = policy_of(args.policy, args.set), size_read(args.size)
    if args.run is None:
        return policy, size, lambda: cases_of(policy, size, args.count, args.seed)
    from workbench.api import plan
    from workbench.explain.replayed_grants import replayed, setup_with

    run = replayed(setup_with(plan(args.run), policy), args.seed)
    return run.policy, run.segments, lambda: [run.case]


def add_size(parser: argparse.ArgumentParser) -> None:
    """Add how large a circuit is."""
    parser.add_argument("--size", metavar="N", default="128", help="blocks, segments ... (default: 128)")


WRITE = _arguments_of_circuit, _run_circuit


def _arguments_of_synth(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policies", metavar="POLICY", nargs="+", help=f"{INLINE}; several stand in one table")
    parser.add_argument("--set", metavar="LEVER=VALUE", action="append", default=[], help="a lever of the one policy")
    add_size(parser)
    parser.add_argument("--seconds", type=float, default=600.0, help="when to give up, each (default: 600)")
    add_output_arguments(parser, "print one JSON object, of several a list")


def _run_synth(args: argparse.Namespace) -> int:
    if args.set and len(args.policies) > 1:
        raise InputError("--set is of one policy; of several write POLICY:LEVER=VALUE.")
    if args.set:
        policies = [policy_of(args.policies[0], args.set)]
    else:
        policies = [policy_inline(text) for text in args.policies]
    rows = [_row(policy, args) for policy in policies]
    if args.json:
        say_json(rows[0] if len(rows) == 1 else rows)
    elif len(rows) == 1:
        print("\n".join(f"{name:<18}{value}" for name, value in rows[0].items()))
    else:
        import pandas as pd

        say_table(pd.DataFrame(rows)[list(COLUMNS)].rename(columns=COLUMNS))
        say_lines([KEY])
    return DONE


def _row(policy: Policy, args: argparse.Namespace) -> dict[str, Any]:
    from workbench.circuits import circuit_of
    from workbench.circuits.registry import size_read
    from workbench.circuits.synthesis import synthesised

    size = size_read(args.size)
    circuit = circuit_of(policy, size)
    counts = synthesised(circuit, args.seconds)._asdict()
    written = {"gates_as_written": circuit.gates, "levels_as_written": circuit.levels}
    return {"policy": policy.short(), "size": size, **counts, **written}


def policy_inline(text: str) -> Policy:
    """Return the policy of `exact_run`, or, with levers, of `exact_run:chain=doubling:encoding=free0`."""
    file, mark, rest = text.rpartition(".py:")
    name, *levers = rest.split(":")
    if not name:
        raise InputError(f"{text!r} must be POLICY or POLICY:LEVER=VALUE:...")
    return policy_of(f"{file}{mark}{name}", levers)


def policy_of(name: str, levers: list[str]) -> Policy:
    """Return the policy of a name with levers, each LEVER=VALUE."""
    from workbench.circuits.registry import policy_named, setting_read

    return policy_named(name, dict(map(setting_read, levers)))


SYNTH = _arguments_of_synth, _run_synth


def _arguments_of_prove(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", metavar="A", help=INLINE)
    parser.add_argument("second", metavar="B", help="the other one")
    add_size(parser)
    parser.add_argument("--seconds", type=float, default=600.0, help="when the solver gives up (default: 600)")
    add_output_arguments(parser)


def _run_prove(args: argparse.Namespace) -> int:
    from workbench.circuits.proof import answers, prove

    (first, one), (second, other) = inline(args.first, args.size), inline(args.second, args.size)
    if sys.stderr.isatty():
        print(f"asking the solver, for {args.seconds:g} s at most", file=sys.stderr)
    proof = prove(one, other, args.seconds)
    row = {"first": first, "second": second, "size": args.size, **proof._asdict()}
    if args.json:
        say_json(row)
    else:
        print(f"{first} and {second} at {args.size}: {proof.verdict} ({proof.way}, {proof.seconds} s)")
        for name, value in proof.counterexample.items():
            print(f"    {name} = {value:#x}")
        for name, values in answers((one, other), proof.counterexample).items():
            print(f"    {name}: {first} says {values[0]:#x}, {second} {values[1]:#x}")
    return SOME_FAILED if proof.verdict == "different" else DONE


def inline(text: str, size: str) -> tuple[str, Circuit]:
    """Return the circuit of `exact_run`, or, with levers, of `exact_run:chain=doubling:encoding=free0`."""
    from workbench.circuits import circuit_of
    from workbench.circuits.registry import size_read

    policy = policy_inline(text)
    return policy.short(), circuit_of(policy, size_read(size))


PROVE = _arguments_of_prove, _run_prove
