"""`workbench coresident`: whether a set of kernels starts, under which module choices, and what to keep free."""

from __future__ import annotations

import argparse

from workbench.cli._output import add_output_arguments, say_json, say_lines, say_table
from workbench.cli.commands import DONE


def _arguments_of_coresident(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Whether the groups of several kernels, all needed at once, can start on a machine: under which shipped module "
        "choices they can hang, and how many modules to keep for the last kernel so that they never do."
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="a CSV file, a row a kernel: groups,threads; there may be vgprs,sgprs,shared_bytes,cluster,barrier",
    )
    parser.add_argument("--machine", metavar="PRESET", required=True, help="the machine, or a preset's file")
    parser.add_argument(
        "--dispatches-a-round", metavar="N", type=int, default=1, help="most groups dispatched in a round (default: 1)"
    )
    add_output_arguments(parser)
    parser.add_argument("--wide", action="store_true", help="print the table as wide as it is")


def _run_coresident(args: argparse.Namespace) -> int:
    from workbench.explain.coresident import coresident

    answer = coresident(args.file, args.machine, args.dispatches_a_round)
    if args.json:
        outcomes = [one._asdict() for one in answer.outcomes]
        say_json({"machine": args.machine, "outcomes": outcomes, "closed": answer.closed, "says": answer.sentence})
        return DONE
    import pandas as pd

    from workbench.statistics.quantities import listed

    rows = [
        {
            "module choice": one.rule,
            "outcome": f"hangs ({one.never_started} of {one.groups})" if one.hangs else _started(one.runs),
        }
        for one in answer.outcomes
    ]
    grids = listed([f"{one.groups:,}" for one in answer.kernels])
    kernels = "a kernel" if len(answer.kernels) == 1 else "kernels"
    say_lines([f"{args.machine}, {answer.modules} modules: {kernels} of {grids} workgroups"])
    say_table(pd.DataFrame(rows), args.wide)
    say_lines([f"{one.rule} {one.why}." for one in answer.outcomes if one.hangs][:1])
    say_lines([answer.sentence])
    return DONE


def _started(runs: int) -> str:
    return "all start" if runs == 1 else f"all start in {runs} runs"


CORESIDENT = _arguments_of_coresident, _run_coresident
