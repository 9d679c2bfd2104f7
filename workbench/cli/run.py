"""`workbench run`, `plan` and `notebook`: do the runs of a sweep, count them, run notebooks over parameters.

Behind them the arguments that all commands share which do runs: a sweep, what is changed of it, its workers.

As a program, the main job (`make run`): placement on the source document's workload and on a real trace, and dispatch.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.main import DONE, SOME_FAILED, main
from workbench.cli.output import say_json, say_lines, say_notes, say_summary
from workbench.errors import InputError, MissingPart, WorkbenchError
from workbench.experiments.designs import draw
from workbench.experiments.fronts import STUDY
from workbench.experiments.plan import Plan
from workbench.experiments.progress import Bar
from workbench.experiments.results_folder import TABLE, has_store
from workbench.experiments.runner import LIMIT_SECONDS, check_limit, check_pool
from workbench.strict_yaml import parse_value
from workbench.units import is_count

if TYPE_CHECKING:
    from workbench.api import Results
    from workbench.notebooks.execution import NotebookRun


MOST_ROWS = 40
"""A longer summary is printed for its first measure alone."""


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


def _run_run(given: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.api import run as run_sweep
    from workbench.statistics.sentences import too_few_seeds

    plan = planned(given.sweep, set=overrides(given))
    few = too_few_seeds(plan)
    folder = Path(given.out) if given.out else default_folder(given.sweep)
    limit = LIMIT_SECONDS if given.limit is None else given.limit
    check_pool(executor_of(given), given.workers)
    check_limit(limit)
    if not given.json:
        print(counted(plan))
        say_lines(few)
    results = run_sweep(
        given.sweep,
        folder,
        limit_seconds=limit,
        repeat=False if given.no_repeat else None,
        **options_of_run(given),
    )
    figures, undrawn = ([], None) if given.no_figures else _drawn(results, folder / "figures")
    if given.events:
        write_events(results, folder)
    _report(results, folder, figures, given, few)
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
    if any((folder / STUDY).is_file() and has_store(folder) for folder in list(path.parents)[:2]):
        return path
    parts = path.parts[path.parts.index("sweeps") + 1 :] if "sweeps" in path.parts else path.parts[-1:]
    return Path("results", *parts)


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
    results: Results, folder: Path, figures: list[Path], given: argparse.Namespace, before: Sequence[str]
) -> None:
    from workbench.statistics.summary import missing_notes, saturation_notes

    failures = results.failures
    if given.json:
        rows = {
            "summary": results.summary().to_dict("records"),
            "missing": missing_notes(results),
            "saturated": saturation_notes(results),
        }
        say_json({**_facts(results, folder, figures), **rows})
        return
    if say_summary(results, given.wide, MOST_ROWS, before):
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

    with closing(Store(folder, read_only=True)) as store:
        beside = len(store.measured()) - len(results.rows)
    runs = f"{beside:,} run{'s' if beside > 1 else ''}"
    return f" beside {runs} of other seeds or points, which no table here has" if beside > 0 else ""


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


def _run_plan(given: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.statistics.summary import family_of

    plan = planned(given.sweep, set=overrides(given))
    kept, note = _kept_runs(plan, Path(given.out) if given.out else default_folder(given.sweep))
    drawn, family = draw(plan.sweep), family_of(plan)
    if given.json:
        points = [{"id": point.id, "baseline": point.baseline, **point.coordinates} for point in plan.points]
        design = {"design": drawn.plain()} if drawn else {}
        noted = {"note": note} if note else {}
        size = {"comparisons": family.comparisons, "seeds": family.seeds, "seeds_needed": family.seeds_needed}
        facts = {"sweep": plan.sweep.name, **design, "points": points, "runs": len(plan), "kept": kept}
        say_json({**facts, "family": {**size, "least_p_holm": family.least_p, "reaches": family.reaches}, **noted})
    else:
        if drawn:
            say_lines([drawn.says()])
        print(f"{counted(plan)}, {kept} of them kept")
        say_lines(line for line in (note, family.note) if line)
    return DONE


def _kept_runs(plan: Plan, folder: Path) -> tuple[int, str]:
    """Return how many runs are kept, measured by the code that there is now, and why none is where others made the
    rows."""
    from workbench.experiments.saved_results import stale_sentence
    from workbench.experiments.store import Store
    from workbench.mechanisms.measured_by import lacking

    if not has_store(folder):
        return 0, ""
    with closing(Store(folder, read_only=True)) as store:
        done, measured = store.measured(), plan.sweep.measured_by(anew=True)
        kept = sum(not lacking(done.get(run.id), measured) for run in plan.runs())
        return kept, stale_sentence(plan, store, done)


PLAN = _arguments_of_plan, _run_plan


def _arguments_of_notebook(parser: argparse.ArgumentParser) -> None:
    notebooks = "notebooks with a cell tagged 'parameters', or a batch file (YAML) that names them"
    parser.add_argument("notebooks", metavar="NOTEBOOK", nargs="+", help=notebooks)
    vary = "values of a parameter, such as seeds=5,10; each combination of several is a run"
    parser.add_argument("--vary", action="append", default=[], metavar="NAME=VALUES", help=vary)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of every run")
    parser.add_argument("--sweep", metavar="SWEEP", help="a sweep whose varied levers become the parameters")
    parser.add_argument("--out", metavar="DIR", help="where the outputs go (default: results/notebooks/NAME)")
    parser.add_argument("--workers", type=whole, default=1, metavar="N", help="notebooks at once (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run_notebook(given: argparse.Namespace) -> int:
    from workbench.notebooks import run_notebooks

    parameters = {**levers_of(given.set), **dict(map(choices_of, given.vary))}
    watch = None if given.json else _say_notebook_run
    batch = run_notebooks(given.notebooks, parameters, given.sweep, given.out, given.workers, watch)
    if given.json:
        say_json({"folder": batch.folder, "notebooks": batch.table.to_dict("records")})
    else:
        for failed in batch.failures:
            where = f", cell {failed.cell}" if failed.cell else ""
            print(f"failed: {failed.output.name}{where}: {failed.error}")
        print(f"{len(batch.runs)} notebooks, {len(batch.failures)} failed; see {batch.folder / 'index.html'}")
    return SOME_FAILED if batch.failures else DONE


def choices_of(text: str) -> tuple[str, dict[str, Any]]:
    """Return what one --vary says: a parameter, and its values as `vary` has them, each read as YAML.

    >>> choices_of("seeds=5,10"), choices_of("policy=[best_fit, 'a,b']")
    (('seeds', {'vary': [5, 10]}), ('policy', {'vary': ['best_fit', 'a,b']}))
    """
    name, mark, listed = text.partition("=")
    if not mark or not name or not listed.strip():
        raise InputError(f"--vary takes NAME=VALUE,VALUE,..., such as seeds=5,10. Got {text!r}.")
    values = parse_value(f"[{listed}]", f"--vary {name}")
    return name, {"vary": values[0] if len(values) == 1 and isinstance(values[0], list) else values}


def _say_notebook_run(run: NotebookRun) -> None:
    print(f"{run.status}: {run.output.name} ({run.seconds:.1f} s)", file=sys.stderr, flush=True)


NOTEBOOK = _arguments_of_notebook, _run_notebook


def add_sweep_arguments(parser: argparse.ArgumentParser, source: str = "a sweep file (YAML)") -> None:
    """Add SWEEP, --set and --seeds to a parser."""
    parser.add_argument("sweep", metavar="SWEEP", help=source)
    parser.add_argument(
        "--set", action="append", default=[], metavar="PATH=VALUE", help="override by dotted path; the value is YAML"
    )
    parser.add_argument("--seeds", type=whole, metavar="N", help="how many paired seeds")


def overrides(given: argparse.Namespace) -> dict[str, Any]:
    """Return what --set and --seeds say, by dotted path."""
    return {**levers_of(given.set), **({"seeds": given.seeds} if given.seeds is not None else {})}


def levers_of(texts: list[str]) -> dict[str, Any]:
    """Return what several --set say, by dotted path."""
    return dict(_override(text) for text in texts)


def _override(text: str) -> tuple[str, Any]:
    path, mark, value = text.partition("=")
    if not mark or not path:
        raise InputError(f"--set takes PATH=VALUE, such as policy.placement=best_fit. Got {text!r}.")
    return path, parse_value(value, f"--set {path}")


def add_run_arguments(parser: argparse.ArgumentParser, folder: str = "results/ and the sweep's path") -> None:
    """Add --out, --workers, --executor and --cluster to a parser; `folder` is where results go by default, in words."""
    parser.add_argument("--out", metavar="DIR", help=f"the results folder (default: {folder})")
    add_worker_arguments(parser)


def add_worker_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --workers, --executor and --cluster to a parser."""
    parser.add_argument("--workers", type=int, metavar="N", help="processes or threads (default: as many as pay off)")
    parser.add_argument("--executor", choices=("processes", "threads"), help="what the workers are")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask cluster: tcp://HOST:PORT, or local:4 for one on this machine"
    )


def executor_of(given: argparse.Namespace) -> str | None:
    """Return what --executor or --cluster says."""
    if given.executor and given.cluster:
        raise InputError("--executor and --cluster cannot both be given: a cluster has workers of its own.")
    if given.cluster and ":" not in given.cluster:
        raise InputError(f"--cluster takes tcp://HOST:PORT or local:N. Got {given.cluster!r}.")
    return given.cluster or given.executor


def options_of_run(given: argparse.Namespace) -> dict[str, Any]:
    """Return what the arguments say of how runs are done, by the names that functions of `workbench.api` have."""
    watch = Bar(quiet=given.json)
    return {"set": overrides(given), "workers": given.workers, "executor": executor_of(given), "progress": watch}


def whole(text: str) -> int:
    """Read a whole number of at least 1 for argparse."""
    if not is_count(text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1. Got {text!r}")
    return int(text)


MAIN_SWEEPS = (
    "sweeps/placement/drain.yaml",
    "sweeps/placement/six_open_gpus.yaml",
    "sweeps/dispatch/head_of_line.yaml",
)
REAL_SWEEP = "sweeps/placement/mi355x_serving.yaml"
REAL_TRACE = "rocprofv3_mi355x_part1"


def run_main_job() -> int:
    """Run the sweeps one after the other; the real trace joins where its file can be reached."""
    sweeps, missing = list(MAIN_SWEEPS), _lack_of_trace()
    if missing is None:
        sweeps.append(REAL_SWEEP)
    status = 0
    for sweep in sweeps:
        print(f"\n== {sweep}")
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
