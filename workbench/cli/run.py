"""`workbench run` and `plan`: do the runs of a sweep, or count them.

As a program, the main job (`make run`): placement on the source document's workload and on a real trace, and dispatch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import say_json, say_lines, say_notes, say_summary
from workbench.cli._run_arguments import (
    add_run_arguments,
    add_sweep_arguments,
    executor_of,
    options_of_run,
    overrides,
)
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.cli.main import main
from workbench.errors import InputError, MissingPart, WorkbenchError
from workbench.experiments.compile_ahead import compiling_ahead
from workbench.experiments.designs import draw
from workbench.experiments.plan import Plan, plan_size_text
from workbench.experiments.results_folder import TABLE, default_folder, has_store, refuse_former
from workbench.experiments.runner import LIMIT_SECONDS, check_limit, check_pool

if TYPE_CHECKING:
    from workbench.api import Results


MOST_ROWS = 40
"""A longer summary is printed for its first measure alone."""
MAIN_SWEEPS = (
    "sweeps/placement/drain.yaml",
    "sweeps/placement/six_open_gpus.yaml",
    "sweeps/dispatch/head_of_line.yaml",
)
REAL_SWEEP = "sweeps/placement/mi355x_serving.yaml"
REAL_TRACE = "rocprofv3_mi355x_part1"


def _arguments_of_run(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="the longest that one run may take (600)")
    parser.add_argument(
        "--no-repeat",
        action="store_true",
        help="repeat no run in a fresh process: rows of your code stay unchecked",
    )
    parser.add_argument("--events", action="store_true", help="write the event log of every run as CSV")
    parser.add_argument("--no-figures", action="store_true", help="leave the sweep's figures undrawn")
    parser.add_argument("--wide", action="store_true", help="print every column of the summary")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run_run(args: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.api import run as run_sweep
    from workbench.statistics.sentences import too_few_seeds

    plan = planned(args.sweep, set=overrides(args))
    few = too_few_seeds(plan)
    folder = Path(args.out) if args.out else default_folder(args.sweep)
    limit = LIMIT_SECONDS if args.limit is None else args.limit
    check_pool(executor_of(args), args.workers)
    check_limit(limit)
    if not args.json:
        print(plan_size_text(plan))
        say_lines(few)
    results = run_sweep(
        args.sweep,
        folder,
        limit_seconds=limit,
        repeat=False if args.no_repeat else None,
        **options_of_run(args),
    )
    figures, undrawn = ([], None) if args.no_figures else _drawn(results, folder / "figures")
    if args.events:
        write_events(results, folder)
    _report(results, folder, figures, args, few)
    if undrawn is not None:
        print(f"not drawn: {undrawn}", file=sys.stderr)
    return SOME_FAILED if results.failures or results.unmeasured else DONE


def _drawn(results: Results, folder: Path) -> tuple[list[Path], WorkbenchError | None]:
    """Draw the figures; one that failed runs or a missing package keep from being drawn is told after the results."""
    if not results.plan.sweep.figures:
        return [], None
    try:
        from workbench.figures import draw_all

        return draw_all(results, folder), None
    except MissingPart as problem:
        return sorted(folder.glob("*.png")), problem
    except InputError as problem:
        if not results.failures:
            raise
        return sorted(folder.glob("*.png")), problem


def write_events(results: Results, folder: Path) -> None:
    """Write the event logs of all runs, one file a run."""
    from workbench.experiments.results_folder import write_whole

    logs = folder / "events"
    logs.mkdir(exist_ok=True)
    for planned in results.plan.runs():
        if planned.id in results.rows and results.rows[planned.id].status == "done":
            write_whole(logs / f"{planned.id}.csv", results.events(planned.id).to_csv(index=False))


def _report(
    results: Results, folder: Path, figures: list[Path], args: argparse.Namespace, before: Sequence[str]
) -> None:
    from workbench.statistics.notes import missing_notes, saturation_notes

    failures = results.failures
    if args.json:
        rows = {
            "summary": results.summary().to_dict("records"),
            "missing": missing_notes(results),
            "saturated": saturation_notes(results),
        }
        say_json({**_facts(results, folder, figures), **rows})
        return
    if say_summary(results, args.wide, MOST_ROWS, before):
        print(f"(the other measures: workbench results {folder})")
    say_notes([*missing_notes(results), *saturation_notes(results)])
    if stopped := _stopped(results):
        print(stopped)
    for row in failures[:5]:
        print(f"failed: seed {row.seed} of point {row.point[:8]}: {row.error}")
    if len(failures) > 5:
        print(f"... and {len(failures) - 5} more failed runs (results.table has all)")
    for note in [*results.notes, *results.checked.sentences]:
        print(note)
    print(f"{len(results.rows)} runs in {results.seconds:.1f} s, kept in {folder}{_other_kept_runs(results, folder)}")
    for path in figures:
        if path.suffix == ".png":
            print(f"figure: {path}")


def _other_kept_runs(results: Results, folder: Path) -> str:
    """Return how many kept runs are of seeds or points that the sweep does not name this time."""
    from workbench.experiments.store import Store

    with closing(Store(folder, read_only=True)) as store:
        others = len(store.measured()) - len(results.rows)
    runs = f"{others:,} run{'s' if others > 1 else ''}"
    return f" beside {runs} of other seeds or points, which no table here has" if others > 0 else ""


def _stopped(results: Results) -> str | None:
    """Return where a sweep with adaptive seeds stopped."""
    if results.plan.sweep.until is None:
        return None
    from workbench.statistics.adaptive_seeds import stop

    return stop(results).sentence


def _facts(results: Results, folder: Path, figures: list[Path]) -> dict[str, Any]:
    return {
        "sweep": results.plan.sweep.name,
        "folder": str(folder),
        "table": str(folder / TABLE),
        "runs": len(results.rows),
        "failed": [{"run_id": row.id, "seed": row.seed, "error": row.error} for row in results.failures],
        "seconds": results.seconds,
        **({"notes": results.notes} if results.notes else {}),
        **results.checked.plain(),
        "figures": [str(path) for path in figures],
        **({"stopped": stopped} if (stopped := _stopped(results)) else {}),
    }


RUN = _arguments_of_run, _run_run


def _arguments_of_plan(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    parser.add_argument("--out", metavar="DIR", help="the results folder to look into")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run_plan(args: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.statistics.comparisons import family_of

    plan = planned(args.sweep, set=overrides(args))
    kept, note, spread_note = _kept_runs(plan, Path(args.out) if args.out else default_folder(args.sweep))
    drawn, family = draw(plan.sweep), family_of(plan)
    if args.json:
        points = [{"id": point.id, "baseline": point.baseline, **point.coordinates} for point in plan.points]
        design = {"design": drawn.plain()} if drawn else {}
        noted = {key: text for key, text in (("note", note), ("seeds_that_tell", spread_note)) if text}
        size = {"comparisons": family.comparisons, "seeds": family.seeds, "seeds_needed": family.seeds_needed}
        facts = {"sweep": plan.sweep.name, **design, "points": points, "runs": len(plan), "kept": kept}
        say_json({**facts, "family": {**size, "least_p": family.least_p, "reaches": family.reaches}, **noted})
    else:
        if drawn:
            say_lines([drawn.says()])
        print(f"{plan_size_text(plan)}, {kept} of them kept")
        say_lines(line for line in (note, family.note, spread_note) if line)
    return DONE


def _kept_runs(plan: Plan, folder: Path) -> tuple[int, str, str]:
    """Return how many runs are kept, why none is, and how many seeds would tell the least effects.

    Kept are those that the code of now has measured. The seeds are by the spread of these runs.
    """
    from workbench.experiments.run_set import gather
    from workbench.experiments.saved_results import stale_sentence
    from workbench.experiments.store import Store
    from workbench.mechanisms.measured_by import lacking
    from workbench.statistics.comparisons import seeds_note

    refuse_former(folder)
    if not has_store(folder):
        return 0, "", ""
    with closing(Store(folder, read_only=True)) as store:
        done, measured = store.measured(), plan.sweep.measured_by(anew=True)
        kept = sum(not lacking(done.get(run.id), measured) for run in plan.runs())
        spread_note = seeds_note(gather(plan, store)) if kept else ""
        return kept, stale_sentence(plan, store, done), spread_note


PLAN = _arguments_of_plan, _run_plan


def run_main_job() -> int:
    """Run the sweeps one after the other, and compile for later ones meanwhile.

    The real trace joins where its file can be reached.
    """
    sweeps, missing = list(MAIN_SWEEPS), _lack_of_trace()
    if missing is None:
        sweeps.append(REAL_SWEEP)
    status = 0
    with compiling_ahead(sweeps):
        for sweep in sweeps:
            print(f"\n== {sweep}", flush=True)
            status = max(status, main(["run", sweep]))
    if missing is not None:
        print(f"\n{REAL_SWEEP} was left out: {missing}")
    print("\nResults (tables, figures as PDF, PNG and CSV, provenance):")
    for sweep in sweeps:
        print(f"  {default_folder(sweep)}")
    print("Change a sweep file and run it again, or open notebooks/01_placement.ipynb with: make lab")
    return status


def _lack_of_trace() -> str | None:
    """Return why the real trace cannot be run here, None where it can."""
    from workbench.workloads.catalogue import locate

    try:
        locate(REAL_TRACE)
    except InputError as reason:
        return str(reason)
    return None


if __name__ == "__main__":
    if not Path("sweeps").is_dir():
        sys.exit("workbench: run this in the project's folder (it holds sweeps/).")
    sys.exit(run_main_job())
