"""`workbench synth POLICY ...`: what a synthesiser makes of circuits, beside what is counted as they are written."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.circuit_arguments import INLINE, add_size, policy_inline
from workbench.cli.command import DONE, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json, say_table
from workbench.errors import InputError

if TYPE_CHECKING:
    from workbench.policies.policy import Policy

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policies", metavar="POLICY", nargs="+", help=f"{INLINE}; several stand in one table")
    parser.add_argument("--set", metavar="LEVER=VALUE", action="append", default=[], help="a lever of the one policy")
    add_size(parser)
    parser.add_argument("--seconds", type=float, default=600.0, help="when to give up, each (default: 600)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, of several a list")


def run(given: argparse.Namespace) -> int:
    if given.set and len(given.policies) > 1:
        raise InputError("--set is of one policy; of several write POLICY:LEVER=VALUE.")
    rows = [_row(policy, given) for policy in _policies(given)]
    if given.json:
        say_json(rows[0] if len(rows) == 1 else rows)
    elif len(rows) == 1:
        print("\n".join(f"{name:<18}{value}" for name, value in rows[0].items()))
    else:
        _say_rows(rows)
    return DONE


def _policies(given: argparse.Namespace) -> list[Policy]:
    from workbench.circuits.registry import policy_named, setting_read

    if given.set:
        return [policy_named(given.policies[0], dict(map(setting_read, given.set)))]
    return [policy_inline(text) for text in given.policies]


def _row(policy: Policy, given: argparse.Namespace) -> dict[str, Any]:
    from workbench.circuits import circuit_of
    from workbench.circuits.registry import size_read
    from workbench.circuits.synthesis import synthesised

    size = size_read(given.size)
    circuit = circuit_of(policy, size)
    counts = synthesised(circuit, given.seconds)._asdict()
    written = {"gates_as_written": circuit.gates, "levels_as_written": circuit.levels}
    return {"policy": policy.short(), "size": size, **counts, **written}


def _say_rows(rows: list[dict[str, Any]]) -> None:
    import pandas as pd

    say_table(pd.DataFrame(rows)[list(COLUMNS)].rename(columns=COLUMNS))
    say_lines([KEY])


COMMAND = Command("synth", "Gates, levels, flip-flops and relative delay of circuits, synthesised.", add_arguments, run)
