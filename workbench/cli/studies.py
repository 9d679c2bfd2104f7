"""`workbench explain sensitivity | discover | blame` and `claims`: studies of many runs that answer one question.

Which levers a measure depends on; where in the space of workload and machine a policy loses; how much less a measure
is without each kind of delay; which claims of the source documents hold.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.main import DONE, SOME_FAILED
from workbench.cli.output import add_table_arguments, say_json, say_lines, say_notes, say_table
from workbench.cli.run import (
    add_run_arguments,
    add_sweep_arguments,
    counted,
    default_folder,
    options_of_run,
    overrides,
    whole,
)
from workbench.errors import InputError, StoreError
from workbench.experiments.progress import Bar

if TYPE_CHECKING:
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


def _run_sensitivity(given: argparse.Namespace) -> int:
    from workbench.api import planned, sensitivity
    from workbench.explain.sensitivity import check

    folder = Path(given.out) if given.out else default_folder(given.sweep)
    plan = planned(given.sweep, set=overrides(given))
    check(plan.sweep, given.measure, given.of)
    if not given.json:
        print(counted(plan))
    analysis = sensitivity(given.sweep, folder, measure=given.measure, of=given.of, **options_of_run(given))
    figures = draw_sensitivity(analysis, folder / "figures", given.measure, given.of)
    _report_sensitivity(analysis, folder, figures, given)
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


def _report_sensitivity(sensitivity: Sensitivity, folder: Path, figures: list[Path], given: argparse.Namespace) -> None:
    if given.json:
        tables: dict[str, Any] = {
            "table": sensitivity.table.to_dict("records"),
            "pairs": sensitivity.pairs.to_dict("records"),
            "undecided": sensitivity.undecided,
        }
        say_json(
            {"folder": str(folder), "runs": len(sensitivity.results.rows), **tables, "figures": list(map(str, figures))}
        )
        return
    say_table(sensitivity.table, given.wide, given.csv)
    if len(sensitivity.pairs):
        say_table(sensitivity.pairs, given.wide)
    say_notes(sensitivity.undecided)
    print(f"{len(sensitivity.results.rows)} runs in {sensitivity.results.seconds:.1f} s, kept in {folder}")
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))


SENSITIVITY = _arguments_of_sensitivity, _run_sensitivity


def _arguments_of_discover(parser: argparse.ArgumentParser) -> None:
    parser.description = "Search a box of limits on levers that holds many of a policy's losses and little else (PRIM)."
    add_sweep_arguments(parser, "a sweep file (YAML), or a results folder")
    parser.add_argument("--measure", metavar="NAME", help="what is looked at (default: the sweep's first measure)")
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--lose", action="store_true", help="where it is worse than its baseline (this is the default)")
    wanted.add_argument("--win", action="store_true", help="where it is better than its baseline")
    wanted.add_argument("--above", type=float, metavar="VALUE", help="where the measure's mean is above a value")
    wanted.add_argument("--below", type=float, metavar="VALUE", help="where it is below a value")
    parser.add_argument("--clear", action="store_true", help="count only losses or wins that are decided (5 %%)")
    parser.add_argument("--boxes", type=whole, metavar="N", default=1, help="how many boxes a policy at most")
    parser.add_argument("--density", type=float, metavar="SHARE", help="the largest box that is at least so dense")
    add_run_arguments(parser)
    parser.add_argument("--csv", metavar="FILE", help="write the points, with their levers and their box, as CSV")
    parser.add_argument("--wide", action="store_true", help="print limits with their tests, and the trajectory")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run_discover(given: argparse.Namespace) -> int:
    from workbench.experiments.results_folder import write_whole

    is_folder = Path(given.sweep).is_dir()
    if is_folder and (given.set or given.seeds or given.out):
        raise InputError("a results folder is searched as it is: leave out --set, --seeds and --out.")
    folder = Path(given.sweep) if is_folder else Path(given.out) if given.out else default_folder(given.sweep)
    result = _discovery(given, folder, is_folder)
    figures = draw_discovery(result, folder / "figures")
    if given.csv:
        write_whole(Path(given.csv), result.cases.to_csv(index=False))
    _report_discovery(result, folder, figures, given)
    return SOME_FAILED if result.results.failures else DONE


def _discovery(given: argparse.Namespace, folder: Path, is_folder: bool) -> Discovery:
    from workbench.api import discover, planned

    if not is_folder and not given.json:
        print(counted(planned(given.sweep, set=overrides(given))))
    return discover(
        given.sweep,
        folder,
        measure=given.measure,
        win=given.win,
        clear=given.clear,
        above=given.above,
        below=given.below,
        boxes=given.boxes,
        density=given.density,
        **options_of_run(given),
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


def _report_discovery(result: Discovery, folder: Path, figures: list[Path], given: argparse.Namespace) -> None:
    if given.json:
        tables = {name: getattr(result, name).to_dict("records") for name in ("boxes", "trajectory")}
        facts = {"folder": str(folder), "sentences": result.sentences(), **tables}
        say_json({**facts, "figures": [str(path) for path in figures]})
        return
    say_lines(result.sentences())
    if given.wide:
        say_table(result.boxes, wide=True)
        say_table(result.trajectory, wide=True)
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))


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


def _run_blame(given: argparse.Namespace) -> int:
    from workbench.api import blame

    own = default_folder(given.sweep)
    folder = Path(given.out) if given.out else own.with_name(f"{own.name}-blame")
    result = blame(given.sweep, folder, measure=given.measure, parts=given.parts, **options_of_run(given))
    if given.json:
        say_json({"folder": str(folder), "runs": len(result.results.rows), "blame": result.table.to_dict("records")})
    else:
        say_table(result.table, given.wide, given.csv)
        print(f"{len(result.results.rows)} runs in {result.results.seconds:.1f} s, kept in {folder}")
    return SOME_FAILED if result.results.failures else DONE


BLAME = _arguments_of_blame, _run_blame

CLAIMS_FOLDER = Path("results/claims")
"""Where a full run for `--write` keeps its runs when no folder is named, so that it can be stopped and gone on with."""


def _arguments_of_claims(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ids", nargs="*", metavar="ID", help="such as H1.1; FILE.py:ID of yours (default: all)")
    parser.add_argument("--out", metavar="DIR", help="keep the report here, and the runs in a results folder a sweep")
    parser.add_argument("--seeds", type=whole, metavar="N", help="paired seeds (default 200; 40 with --quick)")
    parser.add_argument("--quick", action="store_true", help="few seeds of their own: an indicative report in minutes")
    parser.add_argument(
        "--write", metavar="DIR", help=f"a full run; its verdicts go here (runs are kept in {CLAIMS_FOLDER})"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="processes")
    parser.add_argument("--json", action="store_true", help="print one JSON list, an object a claim")


def _run_claims(given: argparse.Namespace) -> int:
    from workbench.claims import claims
    from workbench.experiments.results_folder import write_whole

    if given.write and (given.quick or given.ids):
        raise InputError("--write takes a full run of every claim; leave --quick and the ids out.")
    out = Path(given.out) if given.out else CLAIMS_FOLDER if given.write else None
    if out is not None:
        _refuse_results(out)
    watch, seeds = Bar(quiet=given.json), given.seeds
    report = claims(given.ids or None, out, seeds=seeds, quick=given.quick, workers=given.workers, progress=watch)
    if out is not None:
        write_whole(out / "claims.csv", report.table.to_csv(index=False))
        write_whole(out / "cases.csv", report.case_table.to_csv(index=False))
    if given.write:
        _write_claims(Path(given.write), report)
    if given.json:
        say_json(report.plain())
    else:
        say_lines((report.short if given.quick and not given.ids else report.text).splitlines())
    return DONE


def _write_claims(folder: Path, report: Any) -> None:
    """Write the verdicts as JSON and as tables, with where they come from."""
    import json

    from workbench.claims.cases import MARGINS
    from workbench.claims.claim import FIRST_SEED
    from workbench.experiments.results_folder import write_whole
    from workbench.runs.origin import environment

    seeds = {"first": FIRST_SEED, "count": report.seeds}
    margins = {name: one._asdict() for name, one in MARGINS.items()}
    came = {"environment": environment(), "seeds": seeds, "margins": margins}
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / "verdict.json", json.dumps(report.plain(), indent=1, allow_nan=False) + "\n")
    write_whole(folder / "verdict.csv", report.table.to_csv(index=False))
    write_whole(folder / "verdict.md", report.markdown)
    write_whole(folder / "cases.csv", report.case_table.to_csv(index=False))
    write_whole(folder / "provenance.json", json.dumps(came, indent=1, default=str) + "\n")


def _refuse_results(folder: Path) -> None:
    """Refuse a folder that holds the results of a sweep: claims keep a folder a sweep, never mixed with those."""
    from workbench.experiments.results_folder import SWEEP, has_store

    if has_store(folder) or (folder / SWEEP).exists():
        raise StoreError(f"{folder} holds the results of a sweep or a study; choose another folder for the claims.")


CLAIMS = _arguments_of_claims, _run_claims
