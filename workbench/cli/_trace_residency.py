"""`workbench trace residency`: what granule and placement rule cost the kernels of recorded traces."""

from __future__ import annotations

import argparse

from workbench.cli._output import add_output_arguments, say_json, say_notes, say_table
from workbench.cli._trace_import import add_importer, enter_importer
from workbench.cli.commands import DONE
from workbench.errors import InputError


def _arguments_of_residency(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Residency lost on recorded kernels because shared memory is given in whole granules, and because a workgroup "
        "takes one contiguous range. What a trace does not tell is in no number, and counted."
    )
    parser.add_argument(
        "traces", metavar="TRACE", nargs="*", help="files or public traces (default: all that are here)"
    )
    parser.add_argument("--machine", metavar="PRESET", default="", help="the machine (default: each trace's own card)")
    parser.add_argument(
        "--granules", metavar="BYTES", nargs="+", type=int, help="granules (default: those of real GPUs)"
    )
    add_importer(parser)
    parser.add_argument("--units", type=int, default=10, help="runs a rule, each another unit's share; 0 = no rules")
    parser.add_argument(
        "--longest-us", type=float, default=200.0, help="longer kernels are in no run by rule (default: 200)"
    )
    add_output_arguments(parser)
    parser.add_argument("--wide", action="store_true", help="print the tables as wide as they are")


def _run_residency(args: argparse.Namespace) -> int:
    from workbench.explain.residency import GRANULES, public_traces, survey

    traces = args.traces or public_traces()
    if not traces:
        raise InputError("workbench trace residency: no public trace of kernels is on this machine; name a trace file.")
    enter_importer(args.importer, args.traces)
    result = survey(traces, args.machine, args.granules or GRANULES, units=args.units, longest_us=args.longest_us)
    tables = {name: getattr(result, name) for name in ("told", "granules", "rules")}
    if args.json:
        say_json({**{name: table.to_dict("records") for name, table in tables.items()}, "left_out": result.left_out})
        return DONE
    for table in tables.values():
        if len(table):
            say_table(table, args.wide)
    say_notes(result.left_out)
    return DONE


RESIDENCY = _arguments_of_residency, _run_residency
