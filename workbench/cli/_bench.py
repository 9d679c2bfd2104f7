"""`workbench bench`: ratios of processor time between the workbench and references that take turns with it."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from workbench.cli._output import add_table_arguments, say_json, say_lines, say_table
from workbench.cli.commands import DONE
from workbench.errors import WorkbenchError, unknown_name

BENCHMARKS = Path(__file__).parent.parent.parent / "benchmarks"


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these benchmarks")
    add_table_arguments(parser, "print one JSON list")


def _run(args: argparse.Namespace) -> int:
    import pandas as pd

    suite = _benchmarks()
    for name in args.names:
        if name not in suite.BENCHMARKS:
            raise unknown_name("", "benchmark", name, suite.BENCHMARKS)
    rows = suite.run(args.names or list(suite.BENCHMARKS))
    if args.json:
        say_json(rows)
    else:
        say_table(pd.DataFrame(rows), args.wide, args.csv)
        say_lines(suite.LEGEND)
    return DONE


def _benchmarks() -> ModuleType:
    """Return the benchmarks of the source checkout that this package was installed from."""
    if not (BENCHMARKS / "__init__.py").is_file():
        raise WorkbenchError("the benchmarks are part of a source checkout; run this command in one.")
    spec = importlib.util.spec_from_file_location("benchmarks", BENCHMARKS / "__init__.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["benchmarks"] = module
    spec.loader.exec_module(module)
    return module


BENCH = _arguments, _run
