"""`workbench schema`: the JSON schema of sweep files, with which an editor completes and checks them."""

from __future__ import annotations

import argparse

from workbench.cli.command import DONE, Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="(always JSON)")


def run(given: argparse.Namespace) -> int:
    import json

    from workbench.experiments.schema import sweep_schema

    print(json.dumps(sweep_schema(), indent=2))
    return DONE


COMMAND = Command("schema", "The JSON schema of sweep files.", add_arguments, run)
