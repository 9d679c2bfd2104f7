"""`workbench explain sensitivity | discover | blame`: what a result comes from.

Which levers a measure depends on; where in the space of workload and machine a policy loses; how much less a measure
is without each kind of delay.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import (
    add_output_arguments,
    add_table_arguments,
    say_figures,
    say_json,
    say_lines,
    say_notes,
    say_table,
)
from workbench.cli._run_arguments import (
    add_run_arguments,
    add_sweep_arguments,
    options_of_run,
    overrides,
    positive_int,
    workers_of_run,
)
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError
from workbench.experiments.plan import plan_size_text
from workbench.experiments.results_folder import default_folder
from workbench.number_text import with_limits

if TYPE_CHECKING:
    import pandas as pd

    from workbench.explain.discovery import Discovery
    from workbench.explain.sensitivity import Sensitivity


def _arguments_of_sensitivity(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    parser.add_argument("--measure", metavar="NAME", help="one measure (default: all that the sweep names)")
    parser.add_argument(
        "--of",
        choices=("mean", "gain"),
        default="mean",
        help="the measure itself, or its paired difference to the baseline",
    )
    add_run_arguments(parser, "results/ and the study's path")
    add_table_arguments(parser)


def _run_sensitivity(args: argparse.Namespace) -> int:
    from workbench.api import plan, sensitivity
    from workbench.explain.sensitivity import check

    folder = Path(args.out) if args.out else default_folder(args.sweep)
    todo = plan(args.sweep, set=overrides(args))
    check(todo.sweep, args.measure, args.of)
    if not args.json:
        print(plan_size_text(todo))
    analysis = sensitivity(todo, folder, measure=args.measure, of=args.of, **workers_of_run(args))
    figures = draw_sensitivity(analysis, folder / "figures", args.measure, args.of)
    _report_sensitivity(analysis, folder, figures, args)
    return DONE


def draw_sensitivity(sensitivity: Sensitivity, folder: Path, measure: str | None, of: str) -> list[Path]:
    """Draw the figures of one measure, the first of the study if None: all levers, and pairs where they were
    estimated."""
    from workbench.figures import figure
    from workbench.figures.figure_files import save

    names = ["sensitivities", *(["interactions"] if len(sensitivity.pairs) else [])]
    saved: list[Path] = []
    for recipe in map(figure, names):
        data = recipe.choose(sensitivity.results, measure=measure, of=of)
        saved += save(recipe.draw(data), data, folder, recipe.name)
    return saved


def _report_sensitivity(sensitivity: Sensitivity, folder: Path, figures: list[Path], args: argparse.Namespace) -> None:
    if args.json:
        tables: dict[str, Any] = {
            "table": sensitivity.table.to_dict("records"),
            "pairs": sensitivity.pairs.to_dict("records"),
            "undecided": sensitivity.undecided,
        }
        say_json(
            {"folder": str(folder), "runs": len(sensitivity.results.rows), **tables, "figures": list(map(str, figures))}
        )
        return
    if args.wide:
        say_table(sensitivity.table, args.wide, args.csv)
        if len(sensitivity.pairs):
            say_table(sensitivity.pairs, args.wide)
    else:
        _say_estimates(sensitivity, args.csv)
    say_notes(sensitivity.undecided)
    print(f"{len(sensitivity.results.rows)} runs in {sensitivity.results.seconds:.1f} s, kept in {folder}")
    say_figures(figures)


_OF = {"mean": "mean over the seeds", "gain": "gain over the baseline, positive = better"}


def _say_estimates(sensitivity: Sensitivity, csv: str | None) -> None:
    """Print a block of levers, and one of pairs, for each measure; an estimate and its interval are one column."""
    from workbench.experiments.results_folder import write_whole

    if csv:
        write_whole(Path(csv), sensitivity.table.to_csv(index=False))
    for (measure, of), levers in sensitivity.table.groupby(["measure", "of"], sort=False):
        unit = "shares of its variance" if "first" in levers else "effects in its unit"
        print(f"\n{measure}, {_OF[str(of)]}: {unit} [95 % interval]")
        say_table(_with_intervals(levers))
        pairs = sensitivity.pairs
        if len(pairs):
            say_table(_with_intervals(pairs[(pairs["measure"] == measure) & (pairs["of"] == of)]))


def _with_intervals(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose limits stand in the column of their estimate, without the measure and an empty `way`."""
    ends = {str(name): (f"{name}_low", f"{name}_high") for name in table if f"{name}_low" in table}
    joined = {
        name: [with_limits(*row) for row in table[[name, *limits]].itertuples(index=False)]
        for name, limits in ends.items()
    }
    limits = [name for pair in ends.values() for name in pair]
    empty = [] if table["way"].any() else ["way"]
    return table.assign(**joined).drop(columns=["measure", "of", *limits, *empty])


SENSITIVITY = _arguments_of_sensitivity, _run_sensitivity


def _arguments_of_discover(parser: argparse.ArgumentParser) -> None:
    parser.description = "Search a box of limits on levers that holds many of a policy's losses and little else (PRIM)."
    add_sweep_arguments(parser, "a sweep file (YAML), or a results folder")
    parser.add_argument("--measure", metavar="NAME", help="what is looked at (default: the sweep's first measure)")
    interest = parser.add_mutually_exclusive_group()
    interest.add_argument(
        "--lose", action="store_true", help="where it is worse than its baseline (this is the default)"
    )
    interest.add_argument("--win", action="store_true", help="where it is better than its baseline")
    interest.add_argument("--above", type=float, metavar="VALUE", help="where the measure's mean is above a value")
    interest.add_argument("--below", type=float, metavar="VALUE", help="where it is below a value")
    parser.add_argument("--clear", action="store_true", help="count only losses or wins that are decided (5 %%)")
    parser.add_argument("--boxes", type=positive_int, metavar="N", default=1, help="how many boxes a policy at most")
    parser.add_argument("--density", type=float, metavar="SHARE", help="the largest box that is at least so dense")
    add_run_arguments(parser)
    parser.add_argument("--csv", metavar="FILE", help="write the points, with their levers and their box, as CSV")
    parser.add_argument("--wide", action="store_true", help="print limits with their tests, and the trajectory")
    add_output_arguments(parser)


def _run_discover(args: argparse.Namespace) -> int:
    from workbench.experiments.results_folder import write_whole

    is_folder = Path(args.sweep).is_dir()
    if is_folder and (args.set or args.seeds or args.out):
        raise InputError("a results folder is searched as it is: leave out --set, --seeds and --out.")
    folder = Path(args.sweep) if is_folder else Path(args.out) if args.out else default_folder(args.sweep)
    result = _discovery(args, folder, is_folder)
    figures = draw_discovery(result, folder / "figures")
    if args.csv:
        write_whole(Path(args.csv), result.cases.to_csv(index=False))
    _report_discovery(result, folder, figures, args)
    return SOME_FAILED if result.results.failures else DONE


def _discovery(args: argparse.Namespace, folder: Path, is_folder: bool) -> Discovery:
    from workbench.api import discover, plan

    sweep = args.sweep if is_folder else plan(args.sweep, set=overrides(args))
    if not is_folder and not args.json:
        print(plan_size_text(sweep))
    return discover(
        sweep,
        folder,
        measure=args.measure,
        win=args.win,
        clear=args.clear,
        above=args.above,
        below=args.below,
        boxes=args.boxes,
        density=args.density,
        **workers_of_run(args),
    )


def draw_discovery(result: Discovery, folder: Path) -> list[Path]:
    """Draw each box that was found with its trajectory, or the one search that found none."""
    from workbench.figures.figure_files import save
    from workbench.figures.scenario_discovery import SCENARIO_DISCOVERY_FIGURE, box_figure_data

    boxes = [one for one in result.scenarios if one.is_box] or result.scenarios[:1]
    saved: list[Path] = []
    for number, one in enumerate(boxes, 1):
        data = box_figure_data(result.results, one)
        saved += save(
            SCENARIO_DISCOVERY_FIGURE.draw(data),
            data,
            folder,
            f"{SCENARIO_DISCOVERY_FIGURE.name}_{number}" if number > 1 else SCENARIO_DISCOVERY_FIGURE.name,
        )
    return saved


def _report_discovery(result: Discovery, folder: Path, figures: list[Path], args: argparse.Namespace) -> None:
    if args.json:
        tables = {name: getattr(result, name).to_dict("records") for name in ("boxes", "trajectory")}
        facts = {"folder": str(folder), "sentences": result.sentences(), **tables}
        say_json({**facts, "figures": [str(path) for path in figures]})
        return
    say_lines(result.sentences())
    if args.wide:
        say_table(result.boxes, wide=True)
        say_table(result.trajectory, wide=True)
    say_figures(figures)


DISCOVER = _arguments_of_discover, _run_discover


def _arguments_of_blame(parser: argparse.ArgumentParser) -> None:
    parser.description = "Run a sweep of the engine node, then again without each kind of delay, with the same seeds."
    add_sweep_arguments(parser)
    parser.add_argument(
        "--measure", metavar="NAME", default="group_p99_cycles", help="what is looked at (default: group_p99_cycles)"
    )
    parser.add_argument("--parts", metavar="PART", nargs="+", help="kinds of delay (default: all)")
    add_run_arguments(parser, "results/ and the sweep's, with -blame")
    add_table_arguments(parser)


def _run_blame(args: argparse.Namespace) -> int:
    from workbench.api import blame

    own = default_folder(args.sweep)
    folder = Path(args.out) if args.out else own.with_name(f"{own.name}-blame")
    result = blame(args.sweep, folder, measure=args.measure, parts=args.parts, **options_of_run(args))
    if args.json:
        say_json({"folder": str(folder), "runs": len(result.results.rows), "blame": result.table.to_dict("records")})
    else:
        say_table(result.table, args.wide, args.csv)
        print(f"{len(result.results.rows)} runs in {result.results.seconds:.1f} s, kept in {folder}")
    return SOME_FAILED if result.results.failures else DONE


BLAME = _arguments_of_blame, _run_blame
