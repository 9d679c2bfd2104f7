"""`workbench COMMAND`: find the command, run it, turn a user's mistake into one sentence."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from workbench.cli.command import Command
from workbench.cli.compile_notice import compile_notice
from workbench.cli.roads import roads
from workbench.cli.stopping import stoppable
from workbench.errors import InputError, WorkbenchError, unknown_name
from workbench.hash_seed import ENVIRONMENT, has_fixed_hash_seed

COMMANDS = {
    "plan": "plan",
    "run": "run",
    "results": "results",
    "status": "status",
    "tune": "tune",
    "sensitivity": "sensitivity",
    "discover": "discover",
    "blame": "blame",
    "notebook": "notebook",
    "claims": "claims",
    "figure": "figure",
    "export": "export",
    "verify": "verify",
    "policies": "policies",
    "measures": "measures",
    "figures": "figures",
    "workloads": "workloads",
    "levers": "levers",
    "presets": "presets",
    "schema": "schema",
    "circuit": "circuit",
    "synth": "synth",
    "prove": "prove",
    "import": "import_trace",
    "residency": "residency",
    "replay": "replay",
    "advise": "advise",
    "new-policy": "new_policy",
    "new-preset": "new_preset",
    "dashboard": "dashboard",
    "lab": "lab",
    "docs": "docs",
    "bench": "bench",
    "doctor": "doctor",
    "completion": "completion",
}
"""Each command and the file of this room that holds it; only the one that is called is imported."""


KEPT = "stopped; finished runs of a results folder are kept."

SPECIFICATIONS = (
    "'spec 3, R81' in a text is item R81 of page 3 of docs/specification/ (of an installed package: "
    "workbench/specification/)."
)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        option = re.match(r"argument (?:.*/)?(--[\w-]+): expected one argument$", message)
        if option:
            message += f" (one that begins with '-' is joined to it: {option[1]}=-1)"
        raise InputError(f"{self.prog}: {message}. See: {self.prog} --help")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    0 done, 1 some runs failed, 2 wrong input, 130 stopped by Ctrl-C (128 and its number by another signal).
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    with stoppable() as stop:
        try:
            return _run(words)
        except WorkbenchError as problem:
            print(f"workbench: {problem}", file=sys.stderr)
            return problem.exit_status
        except KeyboardInterrupt as stopped:
            print(f"workbench: {str(stopped) or KEPT}", file=sys.stderr)
            return stop.exit_status
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


def program() -> int:
    """Run the command that this process was called with, as `main` does.

    Where Python draws its hash seed, the process begins anew with the fixed one that workers have: rows that are
    computed here, or in a kernel that is started from here, are then as theirs.
    """
    if not has_fixed_hash_seed() and not ENVIRONMENT.items() <= os.environ.items():
        os.environ.update(ENVIRONMENT)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return main()


def _run(words: list[str]) -> int:
    if words[:1] in ([], ["-h"], ["--help"]):
        print(_overview() if words else f"{roads()}\n\nAll commands: workbench --help")
        return 0
    if words[0] == "--version":
        import workbench

        print(workbench.__version__)
        return 0
    if words[0] not in COMMANDS:
        raise unknown_name("", "command", words[0], COMMANDS)
    command = find(words[0])
    parser = _Parser(prog=f"workbench {command.name}", description=command.says, epilog=SPECIFICATIONS)
    command.add_arguments(parser)
    given = _parsed(parser, words[1:])
    with compile_notice():
        return command.run(given)


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    return parser.parse_args(words)


def find(name: str) -> Command:
    """Return the command of a name."""
    module: Any = importlib.import_module(f"workbench.cli.{COMMANDS[name]}")
    command: Command = module.COMMAND
    return command


def _overview() -> str:
    lines = [f"  {name:<12}{find(name).says}" for name in COMMANDS]
    return "\n".join(["workbench COMMAND ... (each has --help)", "", *lines, "", SPECIFICATIONS])
