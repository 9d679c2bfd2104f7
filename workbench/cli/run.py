"""`workbench run SWEEP`: do what is missing, keep every row, draw the figures that the sweep names."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.fit import say_lines
from workbench.cli.output import say_json, say_notes, say_summary
from workbench.cli.progress import Bar
from workbench.cli.sweep_arguments import add_sweep_arguments, add_worker_arguments, executor_of, overrides
from workbench.errors import InputError, MissingPart, WorkbenchError
from workbench.experiments.fronts import STUDY
from workbench.experiments.pools import check_pool
from workbench.experiments.results_folder import STORE, TABLE
from workbench.experiments.runner import LIMIT_SECONDS, check_limit
from workbench.experiments.store import KINDS, has_store

if TYPE_CHECKING:
    from workbench.api import Results
    from workbench.experiments.plan import Plan

MOST_ROWS = 40
"""A longer summary is printed for its first measure alone."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the sweep's path)")
    add_worker_arguments(parser)
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="the longest that one run may take (600)")
    parser.add_argument(
        "--no-repeat",
        action="store_true",
        help="repeat no run in a fresh process: rows of your code stay unchecked",
    )
    parser.add_argument("--store", choices=KINDS, default="auto", help="how rows are kept (rows: safe on a network)")
    parser.add_argument("--events", action="store_true", help="write the event log of every run as CSV")
    parser.add_argument("--no-figures", action="store_true", help="leave the sweep's figures undrawn")
    parser.add_argument("--wide", action="store_true", help="print every column of the summary")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.api import run as run_sweep
    from workbench.studies.reachable import family_of

    chosen = overrides(given)
    plan = planned(given.sweep, set=chosen)
    folder = Path(given.out) if given.out else default_folder(given.sweep)
    executor, limit = executor_of(given), LIMIT_SECONDS if given.limit is None else given.limit
    check_pool(executor, given.workers)
    check_limit(limit)
    if not given.json:
        print(counted(plan))
        say_lines(filter(None, [family_of(plan).note]))
    results = run_sweep(
        given.sweep,
        folder,
        set=chosen,
        workers=given.workers,
        executor=executor,
        progress=Bar(quiet=given.json),
        store=given.store,
        limit_seconds=limit,
        repeat=False if given.no_repeat else None,
    )
    figures, undrawn = ([], None) if given.no_figures else _drawn(results, folder / "figures")
    if given.events:
        write_events(results, folder)
    _report(results, folder, figures, given)
    if undrawn is not None:
        print(f"not drawn: {undrawn}", file=sys.stderr)
    return SOME_FAILED if results.failures or results.unmeasured else DONE


def counted(plan: Plan) -> str:
    """Return how many points, seeds and runs there are, or may be."""
    most = "at most " if plan.sweep.until is not None else ""
    return f"{len(plan.points)} points x {most}{len(plan.sweep.seeds)} seeds = {most}{len(plan)} runs"


def default_folder(sweep: str) -> Path:
    """Return where results go unless --out says otherwise: sweeps/placement/drain.yaml -> results/placement/drain.

    Those of a sweep that lies in a results folder, such as `best.yaml` of a study, go beside it.
    """
    path = Path(sweep).with_suffix("")
    if any((folder / STUDY).is_file() and has_store(folder, STORE) for folder in list(path.parents)[:2]):
        return path
    parts = path.parts[path.parts.index("sweeps") + 1 :] if "sweeps" in path.parts else path.parts[-1:]
    return Path("results", *parts)


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """Draw and save every figure that the sweep names, as PDF, PNG and CSV."""
    if not results.plan.sweep.figures:
        return []
    from workbench.figures import draw_all

    return draw_all(results, folder)


def _drawn(results: Results, folder: Path) -> tuple[list[Path], WorkbenchError | None]:
    """Draw the figures; one that failed runs or a missing package keep from being drawn is told after the results."""
    try:
        return draw_figures(results, folder), None
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


def _report(results: Results, folder: Path, figures: list[Path], given: argparse.Namespace) -> None:
    from workbench.studies.missing import missing_notes
    from workbench.studies.saturation import saturation_notes

    failures = results.failures
    if given.json:
        rows = {
            "summary": results.summary().to_dict("records"),
            "missing": missing_notes(results),
            "saturated": saturation_notes(results),
        }
        say_json({**_facts(results, folder, figures), **rows})
        return
    if say_summary(results, given.wide, MOST_ROWS):
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
    print(f"{len(results.rows)} runs in {results.seconds:.1f} s, kept in {folder}{_kept_beside(results, folder)}")
    for path in figures:
        if path.suffix == ".png":
            print(f"figure: {path}")


def _kept_beside(results: Results, folder: Path) -> str:
    """Return how many kept runs are of seeds or points that the sweep does not name this time."""
    from workbench.experiments.store import Store

    store = Store(folder / STORE, read_only=True)
    try:
        beside = len(store.measured()) - len(results.rows)
    finally:
        store.close()
    runs = f"{beside:,} run{'s' if beside > 1 else ''}"
    return f" beside {runs} of other seeds or points, which no table here has" if beside > 0 else ""


def _stopped(results: Results) -> str | None:
    """Return where a sweep with adaptive seeds stopped."""
    if results.plan.sweep.until is None:
        return None
    from workbench.studies.adaptive import stop

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


COMMAND = Command("run", "Run a sweep; what is kept already is not run again.", add_arguments, run)
