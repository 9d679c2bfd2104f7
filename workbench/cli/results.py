"""`workbench results DIR`: what a results folder holds, and one of its runs as a file for another program."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.kept_figures import ONLY, TO, add_figure_arguments, draw_kept, refuse_figure_arguments
from workbench.cli.output import say_json, say_notes, say_summary
from workbench.errors import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_argument("--csv", metavar="FILE", help="write the table, one row a run, as CSV")
    parser.add_argument(
        "--timeline", metavar="RUN_ID", help="write a run of a dispatcher or a node as a trace for Perfetto, --to"
    )
    parser.add_argument("--snapshot", metavar="RUN_ID", help="write a run of a pool for pytorch.org/memory_viz, --to")
    parser.add_argument("--only", metavar="WORD", action="append", default=[], help=ONLY)
    parser.add_argument("--figure", metavar="NAME", action="append", default=[], help="draw a figure of these runs")
    add_figure_arguments(parser)
    parser.add_argument("--to", metavar="PATH", help=f"the file of --timeline or --snapshot; for --figure {TO}")
    parser.add_argument("--wide", action="store_true", help="print every column of the summary")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.api import open_results
    from workbench.experiments.results_folder import write_whole
    from workbench.studies.missing import missing_notes
    from workbench.studies.saturation import saturation_notes

    if (given.timeline is not None) + (given.snapshot is not None) != (given.to is not None and not given.figure):
        raise InputError("--timeline RUN_ID or --snapshot RUN_ID goes together with --to FILE.")
    results = open_results(given.folder)
    if given.figure:
        return draw_kept(results, given.figure, given)
    refuse_figure_arguments(given)
    results = results.only(*given.only) if given.only else results
    if given.timeline:
        results.timeline(given.timeline, given.to)
    if given.snapshot:
        results.snapshot(given.snapshot, given.to)
    if given.csv:
        write_whole(Path(given.csv), results.table.to_csv(index=False))
    if given.json:
        rows = {"table": results.table.to_dict("records"), "summary": results.summary().to_dict("records")}
        facts = {"sweep": results.plan.sweep.name, "runs": len(results.rows), "missing": missing_notes(results)}
        facts["saturated"] = saturation_notes(results)
        notes = {"notes": results.notes} if results.notes else {}
        say_json({**facts, **notes, **results.checked.plain(), **rows})
    else:
        say_summary(results, given.wide)
        say_notes([*missing_notes(results), *saturation_notes(results)])
        print(f"{len(results.rows)} of {len(results.plan)} runs, {len(results.failures)} failed")
        for note in [*results.notes, *results.checked.sentences]:
            print(note)
    return SOME_FAILED if results.failures else DONE


COMMAND = Command("results", "What a results folder holds: summary, table as CSV, figures.", add_arguments, run)
