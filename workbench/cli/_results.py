"""`workbench results`, `figure`, `status`, `export` and `verify`: what is made of a results folder.

A results folder is summed up, drawn, watched while it grows, bundled for a paper; a bundle's numbers are computed
again.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import (
    add_output_arguments,
    add_summary_arguments,
    say_json,
    say_lines,
    say_notes,
    say_summary,
    say_table,
)
from workbench.cli._run_arguments import parse_overrides, positive_int
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError, wrong_value

if TYPE_CHECKING:
    from workbench.experiments.results import Results

ONLY = "only points of this value of a lever, best_fit or segments=64, and their baselines; may be repeated"
TO = "a folder (default: figures/ of DIR, figures/chosen/ with --only, --choose or --width)"
INCHES = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72.27}
"""Inches of one."""
NARROWEST, WIDEST = 1.0, 40.0
"""Inches."""


MOST_LINES = 200
"""Of differences that are printed."""


def _arguments_of_results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder, or a bundle")
    parser.add_argument("--csv", metavar="FILE", help="write the table, one row a run, as CSV")
    parser.add_argument(
        "--timeline", metavar="RUN_ID", help="write a run of a dispatcher or a node as a trace for Perfetto, --to"
    )
    parser.add_argument("--snapshot", metavar="RUN_ID", help="write a run of a pool for pytorch.org/memory_viz, --to")
    parser.add_argument("--only", metavar="WORD", action="append", default=[], help=ONLY)
    drawn = "draw a figure of these runs, also FILE.py:NAME of yours"
    parser.add_argument("--figure", metavar="NAME", action="append", default=[], help=drawn)
    add_figure_arguments(parser)
    parser.add_argument("--to", metavar="PATH", help=f"the file of --timeline or --snapshot; for --figure {TO}")
    add_summary_arguments(parser)
    add_output_arguments(parser)


def _run_results(args: argparse.Namespace) -> int:
    from workbench.api import open_results
    from workbench.experiments.results_folder import write_whole
    from workbench.statistics.notes import missing_notes, saturation_notes

    if (args.timeline is not None) + (args.snapshot is not None) != (args.to is not None and not args.figure):
        raise InputError("--timeline RUN_ID or --snapshot RUN_ID goes together with --to FILE.")
    results = open_results(args.folder)
    if args.figure:
        return draw_kept(results, args.figure, args)
    if args.width is not None or args.choose:
        raise InputError("--width and --choose go together with a figure: workbench results DIR --figure NAME.")
    results = results.only(*args.only) if args.only else results
    if args.timeline:
        results.timeline(args.timeline, args.to)
    if args.snapshot:
        results.snapshot(args.snapshot, args.to)
    if args.csv:
        write_whole(Path(args.csv), results.table.to_csv(index=False))
    if results.plan.part is not None:
        _say_shard(results, args.json)
    elif args.json:
        rows = {"table": results.table.to_dict("records"), "summary": results.summary().to_dict("records")}
        facts = {"sweep": results.plan.sweep.name, "runs": len(results.rows), "missing": missing_notes(results)}
        facts["saturated"] = saturation_notes(results)
        notes = {"notes": results.notes} if results.notes else {}
        say_json({**facts, **notes, **results.checked.plain(), **rows})
    else:
        say_summary(results, args.wide, words=args.words)
        say_notes([*missing_notes(results), *saturation_notes(results)])
        print(f"{len(results.rows)} of {len(results.plan)} runs, {len(results.failures)} failed")
        say_lines([*results.notes, *results.checked.sentences])
    return SOME_FAILED if results.failures else DONE


def _say_shard(results: Results, as_json: bool) -> None:
    """Say how much of a shard is kept: its runs are not summed up."""
    part = results.plan.part
    assert part is not None
    if as_json:
        facts = {"sweep": results.plan.sweep.name, "shard": str(part.shard), "runs": len(results.rows)}
        notes = {"notes": results.notes} if results.notes else {}
        say_json({**facts, **notes, **results.checked.plain(), "table": results.table.to_dict("records")})
        return
    print(results.part_sentence)
    if results.failures:
        print(f"{len(results.failures)} of them failed")
    for note in [*results.notes, *results.checked.sentences]:
        print(note)


def add_figure_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --width and --choose to a parser."""
    parser.add_argument("--width", metavar="WIDTH", help="of a figure, such as 88mm or 7in (default: 3.4in)")
    parser.add_argument(
        "--choose",
        metavar="NAME=VALUE",
        action="append",
        default=[],
        help="a choice of a figure, such as measure=drain_cycles (workbench list figures NAME lists them)",
    )


def draw_kept(results: Results, names: list[str], args: argparse.Namespace) -> int:
    """Draw figures of kept results and say where they are; all are refused before any is drawn where one is unknown."""
    from workbench.figures import draw_one

    chosen, width = parse_overrides(args.choose), None if args.width is None else inches(args.width)
    recipes = [_recipe(name, results) for name in names]
    of_all = not (args.only or chosen or width)
    results = results.only(*args.only) if args.only else results
    if results.folder is None and not args.to:
        raise InputError("a bundle has its own figures/, which stay as they are; name another folder with --to.")
    folder = Path(args.to or Path(results.folder or "", "figures", "" if of_all else "chosen"))
    saved = [path for recipe in recipes for path in draw_one(recipe, results, folder, chosen, width)]
    if args.json:
        say_json({"figures": [str(path) for path in saved]})
    else:
        print("\n".join(f"figure: {path}" for path in saved))
    return DONE


def _recipe(name: str, results: Results) -> Any:
    """Return the figure of a name that serves these runs."""
    from workbench.figures import figure
    from workbench.figures.registry import CALCULATIONS, FIGURES, STUDY_FIGURES

    if name not in FIGURES.names():
        if name in CALCULATIONS.names():
            raise InputError(f"figure {name} needs no runs: workbench figure {name}.")
        if name in STUDY_FIGURES.names():
            raise InputError(f"figure {name} is drawn when a study is tuned: workbench tune STUDY.")
    return figure(name, results.plan.sweep.mechanism.engine.name)


def inches(text: str) -> float:
    """Return a width in inches.

    >>> round(inches("88mm"), 3), inches("7in")
    (3.465, 7.0)
    """
    matched = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) *([a-z]+)", text)
    width = float(matched[1]) * INCHES.get(matched[2], 0.0) if matched else 0.0
    if not NARROWEST <= width <= WIDEST:
        raise wrong_value("", "--width", f"must be from {NARROWEST:g}in to {WIDEST:g}in, as 88mm, 18cm, 7in", text)
    return width


RESULTS = _arguments_of_results, _run_results


def _arguments_of_figure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="which one; FILE.py:NAME of yours (default: list those of theory)"
    )
    parser.add_argument("folder", metavar="DIR", nargs="?", help="a results folder, of whose runs it is drawn")
    parser.add_argument("--only", metavar="WORD", action="append", default=[], help=ONLY)
    add_figure_arguments(parser)
    parser.add_argument("--to", metavar="DIR", help=f"where it is written: figures; with a results folder {TO}")
    add_output_arguments(parser)


def _run_figure(args: argparse.Namespace) -> int:
    if args.name is None:
        _list_calculations(args.json)
        return DONE
    if args.folder is not None:
        from workbench.api import open_results

        return draw_kept(open_results(args.folder), [args.name], args)
    from workbench.figures import calculated
    from workbench.figures.plot_style import Format, formatted

    with formatted(Format() if args.width is None else Format(width=inches(args.width))):
        saved = calculated(args.name).save(Path(args.to or "figures"), **parse_overrides(args.choose))
    if args.json:
        say_json({"figure": args.name, "files": [str(path) for path in saved]})
    else:
        print("\n".join(f"figure: {path}" for path in saved))
    return DONE


def _list_calculations(as_json: bool) -> None:
    import pandas as pd

    from workbench.figures import calculations

    rows = [{"figure": one.name, "says": one.description} for one in calculations()]
    if as_json:
        say_json({"figures": rows})
    else:
        say_table(pd.DataFrame(rows))


FIGURE = _arguments_of_figure, _run_figure


def _arguments_of_status(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    add_output_arguments(parser)


def _run_status(args: argparse.Namespace) -> int:
    from workbench.experiments.progress import status

    state = status(args.folder)
    if args.json:
        say_json(state._asdict())
    else:
        say_lines([state.sentence])
    return DONE


STATUS = _arguments_of_status, _run_status


def _arguments_of_export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a results folder")
    parser.add_argument("--to", required=True, metavar="PAPER", help="the folder of the bundle")
    parser.add_argument("--style", choices=("ieee", "acm", "usenix"), default="ieee", help="column width and fonts")
    parser.add_argument("--columns", type=int, choices=(1, 2), default=1, help="how many columns a figure is wide")
    parser.add_argument("--measures", nargs="+", metavar="NAME", help="which tables and numbers (default: the sweep's)")
    parser.add_argument("--figures", nargs="*", metavar="NAME", help="which figures (default: the sweep's)")
    add_output_arguments(parser)


def _run_export(args: argparse.Namespace) -> int:
    from workbench.api import open_results
    from workbench.export.manifest import read_manifest

    chosen = {"columns": args.columns, "measures": args.measures, "figures": args.figures}
    results = open_results(args.folder)
    bundle = results.export(args.to, style=args.style, **chosen)
    needs = read_manifest(bundle)["needs"]
    if args.json:
        say_json({"bundle": str(bundle), "needs": needs, **results.checked.plain()})
        return DONE
    for need in needs:
        print(f"not in the bundle: {need}")
    for sentence in results.checked.sentences:
        print(sentence)
    print(f"bundle: {bundle}")
    return DONE


EXPORT = _arguments_of_export, _run_export


def _arguments_of_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bundle", metavar="PAPER", help="a folder that `workbench export` wrote")
    parser.add_argument(
        "--runs",
        type=lambda text: 0 if text == "all" else positive_int(text),
        default=20,
        metavar="N",
        help="how many runs are done again, or `all`",
    )
    parser.add_argument("--no-figures", action="store_true", help="simulate no run for figures and draw no picture")
    add_output_arguments(parser)


def _run_verify(args: argparse.Namespace) -> int:
    from workbench.export.verify import verify

    report = verify(args.bundle, sample=args.runs, figures=not args.no_figures)
    if args.json:
        differences = [one._asdict() for one in report.differences]
        nested = {"differences": differences, "changes": [one.plain() for one in report.changes]}
        say_json({**report._asdict(), **nested, "lines": report.lines})
        return DONE if report.same else SOME_FAILED
    for line in report.lines[:MOST_LINES]:
        print(line)
    if len(report.lines) > MOST_LINES:
        print(f"... and {len(report.lines) - MOST_LINES} more lines (--json has all)")
    for name, why in report.by_digest.items():
        print(f"{name}: compared by digest only, for {why}")
    for note in report.notes:
        print(note)
    print(report.sentence)
    return DONE if report.same else SOME_FAILED


VERIFY = _arguments_of_verify, _run_verify
