"""`workbench notebook`: run notebooks once for each combination of their parameters."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from workbench.cli._output import add_output_arguments, say_json
from workbench.cli._run_arguments import parse_overrides, positive_int
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError
from workbench.strict_yaml import parse_value

if TYPE_CHECKING:
    from workbench.notebooks.execution import NotebookRun


def _arguments_of_notebook(parser: argparse.ArgumentParser) -> None:
    notebooks = "notebooks with a cell tagged 'parameters', or a batch file (YAML) that names them"
    parser.add_argument("notebooks", metavar="NOTEBOOK", nargs="+", help=notebooks)
    vary = "values of a parameter, such as seeds=5,10; each combination of several is a run"
    parser.add_argument("--vary", action="append", default=[], metavar="NAME=VALUES", help=vary)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of every run")
    parser.add_argument("--sweep", metavar="SWEEP", help="a sweep whose varied levers become the parameters")
    parser.add_argument("--out", metavar="DIR", help="where the outputs go (default: results/notebooks/NAME)")
    parser.add_argument("--workers", type=positive_int, default=1, metavar="N", help="notebooks at once (default: 1)")
    add_output_arguments(parser)


def _run_notebook(args: argparse.Namespace) -> int:
    from workbench.notebooks import run_notebooks

    parameters = {**parse_overrides(args.set), **dict(map(choices_of, args.vary))}
    watch = None if args.json else _say_notebook_run
    batch = run_notebooks(args.notebooks, parameters, args.sweep, args.out, args.workers, watch)
    if args.json:
        say_json({"folder": batch.folder, "notebooks": batch.table.to_dict("records")})
    else:
        for failed in batch.failures:
            where = f", cell {failed.cell}" if failed.cell else ""
            print(f"failed: {failed.output.name}{where}: {failed.error}")
        print(f"{len(batch.runs)} notebooks, {len(batch.failures)} failed; see {batch.folder / 'index.html'}")
    return SOME_FAILED if batch.failures else DONE


def choices_of(text: str) -> tuple[str, dict[str, Any]]:
    """Return the content of one --vary: a parameter, and its values as `vary` has them, each read as YAML.

    >>> choices_of("seeds=5,10"), choices_of("policy=[best_fit, 'a,b']")
    (('seeds', {'vary': [5, 10]}), ('policy', {'vary': ['best_fit', 'a,b']}))
    """
    name, mark, listed = text.partition("=")
    if not mark or not name or not listed.strip():
        raise InputError(f"--vary takes NAME=VALUE,VALUE,..., such as seeds=5,10. Got {text!r}.")
    values = parse_value(f"[{listed}]", f"--vary {name}")
    return name, {"vary": values[0] if len(values) == 1 and isinstance(values[0], list) else values}


def _say_notebook_run(run: NotebookRun) -> None:
    if run.changed:
        why = f"{run.changed} is not what it was when the notebook read it"
        print(f"{run.output.name}: ran again, as {why}.", file=sys.stderr)
    print(f"{run.status}: {run.output.name} ({run.seconds:.1f} s)", file=sys.stderr, flush=True)


NOTEBOOK = _arguments_of_notebook, _run_notebook
