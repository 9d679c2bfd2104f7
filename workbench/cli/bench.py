"""`workbench bench`: the speed of this machine, with what the bars are compared with in the same run."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from workbench.cli.command import DONE, Command
from workbench.cli.output import add_table_arguments, say_json, say_table
from workbench.errors import WorkbenchError, unknown_name

FOLDER = Path(__file__).parent.parent.parent / "benchmarks"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    parser.add_argument("--json", action="store_true", help="print one JSON list")
    add_table_arguments(parser)


def run(given: argparse.Namespace) -> int:
    import pandas as pd

    suite = _suite()
    for name in given.names:
        if name not in suite.BENCHMARKS:
            raise unknown_name("", "benchmark", name, suite.BENCHMARKS)
    rows = suite.run(given.names or list(suite.BENCHMARKS))
    if given.json:
        say_json(rows)
    else:
        say_table(pd.DataFrame(rows), given.wide, given.csv)
    return DONE


def _suite() -> ModuleType:
    """Return the benchmarks of the source checkout that this package was installed from."""
    if not (FOLDER / "__init__.py").is_file():
        raise WorkbenchError("the benchmarks are part of a source checkout; run this command in one.")
    spec = importlib.util.spec_from_file_location("benchmarks", FOLDER / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks"] = module
    spec.loader.exec_module(module)
    return module


COMMAND = Command("bench", "Measure the speed of the engines on this machine.", add_arguments, run)
