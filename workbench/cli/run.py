"""`workbench run`, `plan` and `gather`: do the runs of a sweep or of a shard, count them, merge the shards.

As a program, the main job (`make run`): placement on the source document's workload and on a real trace, and dispatch.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli._output import (
    add_output_arguments,
    add_summary_arguments,
    say_figures,
    say_json,
    say_lines,
    say_notes,
    say_summary,
)
from workbench.cli._run_arguments import (
    add_run_arguments,
    add_sweep_arguments,
    executor_of,
    overrides,
    workers_of_run,
)
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.cli.main import main
from workbench.errors import InputError, MissingPart, WorkbenchError
from workbench.experiments.compile_ahead import compiling_ahead
from workbench.experiments.designs import draw
from workbench.experiments.plan import Plan, plan_size_text
from workbench.experiments.results_folder import TABLE, default_folder, has_store, refuse_former
from workbench.experiments.runner import LIMIT_SECONDS, check_limit, check_pool
from workbench.experiments.shards import read_shard

if TYPE_CHECKING:
    from workbench.experiments.results import Results


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
    _add_shard(parser, "run")
    add_run_arguments(parser)
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="the longest that one run may take (600)")
    parser.add_argument(
        "--no-repeat",
        action="store_true",
        help="repeat no run in a fresh process: rows of your code stay unchecked",
    )
    parser.add_argument("--events", action="store_true", help="write the event log of every run as CSV")
    parser.add_argument("--no-figures", action="store_true", help="leave the sweep's figures undrawn")
    add_summary_arguments(parser)
    add_output_arguments(parser)


def _add_shard(parser: argparse.ArgumentParser, verb: str) -> None:
    parser.add_argument("--shard", metavar="K/N", help=f"{verb} part K of N alone, K from 1 to N (see: gather)")


def _folder_of(args: argparse.Namespace) -> Path:
    """Return the results folder of a sweep, or of its shard."""
    if args.out:
        return Path(args.out)
    folder = default_folder(args.sweep)
    if args.shard is None:
        return folder
    shard = read_shard(args.shard)
    return folder.with_name(f"{folder.name}-shards") / f"{shard.number}-of-{shard.of}"


def _run_run(args: argparse.Namespace) -> int:
    from workbench.api import plan, run
    from workbench.statistics.sentences import too_few_seeds

    if args.shard is not None and args.events:
        raise InputError("--events writes the logs of a whole sweep: give it to the run of the gathered folder.")
    todo = plan(args.sweep, set=overrides(args), shard=args.shard)
    few = [] if args.shard else too_few_seeds(todo)
    folder = _folder_of(args)
    limit = LIMIT_SECONDS if args.limit is None else args.limit
    check_pool(executor_of(args), args.workers)
    check_limit(limit)
    if not args.json:
        print(plan_size_text(todo))
        say_lines(few)
    repeat = False if args.no_repeat else None
    results = run(todo, folder, limit_seconds=limit, repeat=repeat, **workers_of_run(args))
    if args.shard is not None:
        _report_shard(results, folder, args)
        return SOME_FAILED if results.failures or results.unmeasured else DONE
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

    if args.json:
        rows = {
            "summary": results.summary().to_dict("records"),
            "missing": missing_notes(results),
            "saturated": saturation_notes(results),
        }
        say_json({**_facts(results, folder, figures), **rows})
        return
    if say_summary(results, args.wide, MOST_ROWS, before, args.words):
        print(f"(the other measures: workbench results {folder})")
    say_notes([*missing_notes(results), *saturation_notes(results)])
    if stopped := _stopped(results):
        print(stopped)
    _say_failures(results)
    print(f"{len(results.rows)} runs in {results.seconds:.1f} s, kept in {folder}{_other_kept_runs(results, folder)}")
    say_figures(figures)
    print(f"next: {next_command(results, folder, args)}")


MOST_SEEDS_NEXT = 1000
"""The seeds up to which a run with more of them is proposed."""


def next_command(results: Results, folder: Path, args: argparse.Namespace) -> str:
    """Return the command that goes on from here, and what it does.

    If runs failed, it tries them again. If a comparison is undecided, it has the seeds that tell the least effect.
    Otherwise it writes a bundle for a paper.
    """
    same = ["workbench", "run", args.sweep, *(word for text in args.set for word in ("--set", text))]
    out = ["--out", args.out] if args.out else []
    seeds = results.plan.sweep.seeds
    if results.failures:
        return f"{shlex.join([*same, *_seeds(args.seeds), *out])}  (tries what failed again)"
    needed = _seeds_that_decide(results)
    if needed > len(seeds) and seeds == [*range(len(seeds))] and results.plan.sweep.until is None:
        return f"{shlex.join([*same, *_seeds(needed), *out])}  (as many seeds as tell the least effect)"
    return f"{shlex.join(['workbench', 'export', str(folder), '--to', 'paper'])}  (tables, figures, numbers in LaTeX)"


def _seeds(count: int | None) -> list[str]:
    return [] if count is None else ["--seeds", str(count)]


def _seeds_that_decide(results: Results) -> int:
    """Return the seeds that decide each undecided comparison for which so many runs pay off; 0 if there is none."""
    from workbench.statistics.comparisons import judged

    undecided = (one for one in judged(results).verdicts.values() if one.word == "undecided")
    return max((needed for one in undecided if (needed := one.seeds_needed or 0) <= MOST_SEEDS_NEXT), default=0)


def _report_shard(results: Results, folder: Path, args: argparse.Namespace) -> None:
    """Say how much of a shard is kept, and nothing of what its runs say: that is of the whole sweep."""
    part = results.plan.part
    assert part is not None
    if args.json:
        say_json({**_facts(results, folder, []), "shard": str(part.shard)})
        return
    _say_failures(results)
    print(f"{part.shard.name}: {len(results.rows)} runs in {results.seconds:.1f} s, kept in {folder}")
    dirs = f"{folder.parent}/*" if not args.out else "DIR..."
    print(f"when all {part.shard.of} are done: workbench gather {dirs} --out {default_folder(args.sweep)}")


def _say_failures(results: Results) -> None:
    failures = results.failures
    for row in failures[:5]:
        print(f"failed: seed {row.seed} of point {row.point[:8]}: {row.error}")
    if len(failures) > 5:
        print(f"... and {len(failures) - 5} more failed runs (results.table has all)")
    for note in [*results.notes, *results.checked.sentences]:
        print(note)


def _other_kept_runs(results: Results, folder: Path) -> str:
    """Return the number of kept runs of seeds or points that the sweep does not name this time."""
    from workbench.experiments.store import Store

    with closing(Store(folder, read_only=True)) as store:
        others = len(store.measured()) - len(results.rows)
    runs = f"{others:,} run{'s' if others > 1 else ''}"
    return f" beside {runs} of other seeds or points, which no table here has" if others > 0 else ""


def _stopped(results: Results) -> str | None:
    """Return the number of seeds at which a sweep with adaptive seeds stopped."""
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
    _add_shard(parser, "plan")
    parser.add_argument("--out", metavar="DIR", help="the results folder to look into")
    add_output_arguments(parser)


def _run_plan(args: argparse.Namespace) -> int:
    from workbench.api import plan
    from workbench.statistics.comparisons import family_of

    todo = plan(args.sweep, set=overrides(args), shard=args.shard)
    kept, note, spread_note = _kept_runs(todo, _folder_of(args))
    if args.shard is not None:
        if args.json:
            facts = {"sweep": todo.sweep.name, "shard": args.shard, "points": len(todo.points)}
            say_json({**facts, "runs": len(todo), "kept": kept, **({"note": note} if note else {})})
        else:
            print(f"{plan_size_text(todo)}, {kept} of them kept")
            say_lines([note] if note else [])
        return DONE
    drawn, family = draw(todo.sweep), family_of(todo)
    if args.json:
        points = [{"id": point.id, "baseline": point.baseline, **point.coordinates} for point in todo.points]
        design = {"design": drawn.plain()} if drawn else {}
        noted = {key: text for key, text in (("note", note), ("seeds_that_tell", spread_note)) if text}
        size = {"comparisons": family.comparisons, "seeds": family.seeds, "seeds_needed": family.seeds_needed}
        facts = {"sweep": todo.sweep.name, **design, "points": points, "runs": len(todo), "kept": kept}
        say_json({**facts, "family": {**size, "least_p": family.least_p, "reaches": family.reaches}, **noted})
    else:
        if drawn:
            say_lines([drawn.says()])
        print(f"{plan_size_text(todo)}, {kept} of them kept")
        say_lines(line for line in (note, family.note, spread_note) if line)
    return DONE


def _kept_runs(plan: Plan, folder: Path) -> tuple[int, str, str]:
    """Return the number of kept runs, the reason why none is, and the number of seeds that would tell the least
    effects.

    Kept are those that the code of now has measured. The seeds are by the spread of these runs.
    """
    from workbench.experiments.results import gather
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
        spread_note = seeds_note(gather(plan, store)) if kept and plan.part is None else ""
        return kept, stale_sentence(plan, store, done), spread_note


PLAN = _arguments_of_plan, _run_plan


def _arguments_of_gather(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", metavar="DIR", nargs="+", help="the folder of a shard; name those of all shards")
    parser.add_argument("--out", metavar="DIR", required=True, help="the new results folder")
    add_output_arguments(parser)


def _run_gather(args: argparse.Namespace) -> int:
    from workbench.experiments.shard_merge import gather_shards

    done = gather_shards([Path(folder) for folder in args.folders], Path(args.out))
    if args.json:
        say_json(done._asdict())
    else:
        failed = f", {done.failed} of them failed" if done.failed else ""
        print(f"{done.shards} shards: all {done.runs} runs of {done.points} points are in {done.folder}{failed}")
        say_lines(line for line in (done.origins, done.signature) if line)
        print(f"look at them with: workbench results {done.folder}")
    return SOME_FAILED if done.failed else DONE


GATHER = _arguments_of_gather, _run_gather


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
    """Return the reason why the real trace cannot be run here, None where it can."""
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
