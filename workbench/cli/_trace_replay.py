"""`workbench trace replay`: what each policy would have done with the memory that a trace recorded."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from workbench.cli._output import add_output_arguments, say_figures, say_json, say_lines, say_table
from workbench.cli._run_arguments import parse_overrides
from workbench.cli._trace_import import add_importer, enter_importer
from workbench.cli.commands import DONE, SOME_FAILED
from workbench.errors import InputError
from workbench.experiments.progress import Bar
from workbench.strict_yaml import parse_value

if TYPE_CHECKING:
    from workbench.advice.replay import Replayed
    from workbench.advice.torch_memory.snapshot import CacheRow, SnapshotReplay
    from workbench.experiments.plan import Plan


WITH_LENDING = ("local_only", "max_bandwidth")
"""The lender on cards of another size, unless --target names it: none, and the document's first rule."""
_BYTES = ("reserved_peak_bytes", "active_peak_bytes", "borrowed_peak_bytes")
_LUMPED = "The trace does not tell which blocks were live before it: one block a card stands for them, {size} in all."
_COLD = "The recorded allocator began with {size} cached; {these}."
_BOTH = (
    "The trace tells no addresses, so how what was cached lay cannot be known; both readings are given: with nothing "
    "cached (a lower bound), and `from full`, with one free block of that size."
)
_WINDOW = ("reserved_peak_bytes", "active_peak_bytes", "driver_calls", "refused")


def _arguments_of_replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a memory snapshot, profile or RMM log, or a public trace's name")
    parser.add_argument("--cache", action="append", default=[], metavar="POLICY", help="only this cache; repeatable")
    parser.add_argument("--target", action="append", default=[], metavar="POLICY", help="who lends; repeatable")
    parser.add_argument("--machine", "--board", metavar="BOARD", help="a preset, or a machine as a sweep says it")
    parser.add_argument(
        "--card-bytes", metavar="BYTES", help="memory of every GPU, such as 40GiB: would it have fitted?"
    )
    parser.add_argument("--device", type=int, default=-1, metavar="N", help="one card of the trace (default: all)")
    parser.add_argument(
        "--before",
        choices=("ask", "leave_out", "with_cache"),
        help="what was live before the trace; with_cache: the pool starts as full as the recorded one (default: ask, "
        "and also with_cache where the trace tells no addresses)",
    )
    parser.add_argument("--ask-refused", action="store_true", help="ask also for what the recorded allocator refused")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override of the sweep")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: as many as pay off)")
    parser.add_argument("--out", metavar="DIR", help="keep the runs: a results folder for results, figures and export")
    parser.add_argument("--figure", metavar="DIR", help="draw memory over the requests, as PDF, PNG and CSV")
    parser.add_argument("--csv", metavar="FILE", help="write the rows as CSV")
    add_importer(parser)
    parser.add_argument("--wide", action="store_true", help="print the table as wide as it is")
    add_output_arguments(parser)


def _run_replay(args: argparse.Namespace) -> int:
    from workbench.api import plan
    from workbench.experiments.results_folder import write_whole

    enter_importer(args.importer, [args.file])
    sweep, progress = _sweep(args), Bar(quiet=args.json or args.quiet)
    if args.csv and not Path(args.csv).absolute().parent.is_dir():
        raise InputError(f"--csv: the folder of {args.csv} does not exist; make it, or name another file.")
    exact = _exact(sweep, args.device)
    todo = plan(sweep, set=parse_overrides(args.set))
    setup = todo.points[0].setup
    if exact is not None and _needs_no_pool(args):
        outcome = ReplayOutcome(_exact_alone(args, setup, exact), [], [])
    else:
        outcome = _in_pools(args, sweep, todo, exact, progress)
    if args.csv:
        write_whole(Path(args.csv), _table(outcome.rows).to_csv(index=False))
    _report(args, setup, outcome, exact)
    return SOME_FAILED if outcome.failures else DONE


class ReplayOutcome(NamedTuple):
    """What came of a replay."""

    rows: list[Replayed]
    failures: list[Any]
    figures: list[Path]


def _is_alone(args: argparse.Namespace) -> bool:
    """Return whether cards are replayed as they were, so that PyTorch's caches can start as the recording started."""
    return args.card_bytes is None and not args.target and args.before in (None, "ask")


def _needs_no_pool(args: argparse.Namespace) -> bool:
    """Return whether only PyTorch's own caches are asked for: then the engine of pools is neither compiled nor run."""
    from workbench.advice.torch_memory.snapshot import EXACT_CACHES

    named = bool(args.cache) and set(args.cache) <= set(EXACT_CACHES)
    return named and _is_alone(args) and not (args.out or args.figure or args.set)


def _exact_alone(args: argparse.Namespace, setup: Any, exact: SnapshotReplay) -> list[Replayed]:
    """Return the rows of PyTorch's caches, after the recorded one."""
    from workbench.advice.replay import Replayed, recorded_allocator
    from workbench.advice.torch_memory.snapshot import exact_rows

    result, allocations = exact_rows(exact), max(exact.exactness.allocs, 1)
    unknown = Replayed("", math.nan, math.nan, math.nan, math.nan, math.nan, borrowed_peak_bytes=0.0, refused=math.nan)
    rows = [_exactly(unknown._replace(policy=name), result[name], allocations) for name in dict.fromkeys(args.cache)]
    recorded = recorded_allocator(setup.workload)
    return [*([recorded] if recorded else []), *rows]


def _in_pools(
    args: argparse.Namespace, sweep: dict[str, Any], todo: Plan, exact: SnapshotReplay | None, progress: Any
) -> ReplayOutcome:
    """Return the rows of a sweep of the engine `pool`."""
    from workbench.advice.replay import replayed
    from workbench.api import run

    workload: Any = todo.points[0].setup.workload
    results = run(todo, args.out, workers=args.workers, progress=progress)
    rows, failures = replayed(results), list(results.failures)
    if exact is not None:
        rows = _with_exact(rows, exact, alone=_is_alone(args))
    elif args.before is None and workload.recorded().cached_before:
        full = {"trace_pool": {**sweep["workload"]["trace_pool"], "before": "with_cache"}}  # as the recorded one was
        sweep = {**sweep, "workload": full, "figures": []}
        other = run(sweep, set=parse_overrides(args.set), workers=args.workers, progress=progress)
        rows += [_of_full(row) for row in replayed(other) if row.policy != "recorded"]
        failures += other.failures
    figures: list[Path] = []
    if args.figure:
        from workbench.figures import draw_all

        figures = draw_all(results, Path(args.figure))
    return ReplayOutcome(rows, failures, figures)


def _of_full(row: Replayed) -> Replayed:
    """Return a row by the name of its reading; what is active at the peak then counts what was only cached."""
    return row._replace(policy=f"{row.policy}, from full", active_peak_bytes=math.nan, fragmentation=math.nan)


def _exact(sweep: dict[str, Any], device: int) -> SnapshotReplay | None:
    """Return the replay by PyTorch's own rules from where the recording began; None if the trace is no memory
    snapshot."""
    from workbench.advice.torch_memory.snapshot import replay_of_file
    from workbench.workloads.workload_key import read_workload

    workload: Any = read_workload(sweep["workload"], wants="pool_requests")
    return replay_of_file(workload.trace_file(), device)


def _with_exact(rows: list[Replayed], exact: SnapshotReplay, alone: bool) -> list[Replayed]:
    """Return the rows with what was recorded over the recorded window, and, on a card of its own, PyTorch's caches
    exactly."""
    from workbench.advice.torch_memory.snapshot import exact_rows

    own = exact_rows(exact) if alone else {}
    allocations = max(exact.exactness.allocs, 1)
    return [_exactly(row, own[row.policy], allocations) if row.policy in own else row for row in rows]


def _exactly(row: Replayed, own: CacheRow, allocations: int) -> Replayed:
    return row._replace(
        reserved_peak_bytes=float(own.reserved_peak_bytes),
        active_peak_bytes=float(own.active_peak_bytes),
        fragmentation=1 - own.active_peak_bytes / max(own.reserved_peak_bytes, 1),
        driver_calls=float(own.driver_calls),
        cache_hit_rate=1 - min(own.driver_calls / allocations, 1),
        refused=float(own.refused),
    )


def _sweep(args: argparse.Namespace) -> dict[str, Any]:
    """Return the sweep that the arguments describe."""
    from workbench.advice.replay import FIGURES, replay_sweep
    from workbench.units import parse_bytes

    size = parse_bytes(args.card_bytes, "--card-bytes") if args.card_bytes is not None else None
    machine = {"machine": parse_value(args.machine, "--machine")} if args.machine is not None else {}
    sweep = replay_sweep(
        args.file,
        caches=[parse_value(text, "--cache") for text in args.cache],
        targets=[parse_value(text, "--target") for text in args.target] or (WITH_LENDING if size else ()),
        card_bytes=size,
        before=args.before or "ask",
        refused="ask" if args.ask_refused else "leave_out",
        device=args.device,
        **machine,
    )
    if args.figure and not sweep["figures"]:
        raise InputError(f"--figure draws {max(FIGURES.values())} policies at most; name some by --cache and --target.")
    return sweep


def _report(args: argparse.Namespace, setup: Any, outcome: ReplayOutcome, exact: SnapshotReplay | None) -> None:
    facts, (rows, failures, figures) = _facts_of_replay(args, setup), outcome
    failed = [{"run_id": row.id, "error": row.error} for row in failures]
    if args.json:
        policies = {"policies": [row._asdict() for row in rows], "failed": failed}
        window = _window(rows, exact)
        say_json({**facts, **window, **policies, "folder": args.out, "figures": [str(path) for path in figures]})
        return
    counts = f"{facts['requests']} requests, {facts['allocations']} of them allocations"
    say_lines([f"{facts['trace']}: {counts}; {facts['board']}"])
    say_table(_readable(rows), args.wide)
    if exact is not None:
        say_lines([f"PyTorch's own rules from where the recording began: {exact.exactness}."])
    _note_what_was_before(args, facts, exact)
    for one in failed:
        say_lines([f"failed: {one['error']}"])
    if args.out:
        print(f"kept in {args.out}: workbench results {args.out}, workbench export {args.out} --to PAPER")
    say_figures(figures)


def _window(rows: list[Replayed], exact: SnapshotReplay | None) -> dict[str, Any]:
    """Return the recording, and the actions of each cache between the first and the last event."""
    window = {row.policy: {name: _whole(getattr(row, name)) for name in _WINDOW} for row in rows}
    recorded = window.pop("recorded", None)
    return {
        "exactness": exact.exactness._asdict() if exact else None,
        "recorded": exact.recorded._asdict() if exact else recorded,
        "caches": [{"policy": policy, **figures} for policy, figures in window.items()],
    }


def _whole(number: float) -> int | None:
    """Return a count as JSON writes it, nothing where it is not known."""
    return None if number != number else round(number)


def _note_what_was_before(args: argparse.Namespace, facts: dict[str, Any], exact: SnapshotReplay | None) -> None:
    """Say in which way the pools here did not begin as the recorded allocator did."""
    from workbench.number_text import bytes_said

    if facts["lumped_before_bytes"] and args.before != "leave_out":
        say_lines([_LUMPED.format(size=bytes_said(facts["lumped_before_bytes"]))])
    if facts["cached_before_bytes"] and args.before != "with_cache":
        others = "the caches that are not PyTorch's begin with what was live alone"
        these = (
            others if exact else "the pools here begin with what was live alone, so what they reserve is a lower bound"
        )
        say_lines([_COLD.format(size=bytes_said(facts["cached_before_bytes"]), these=these)])
        if exact is None and args.before is None:
            say_lines([_BOTH])


def _facts_of_replay(args: argparse.Namespace, setup: Any) -> dict[str, Any]:
    """Return the name and the place of the replay."""
    from workbench.machine.board import board_line

    recorded = setup.workload.recorded()
    return {
        "trace": args.file,
        **setup.workload.facts(setup.machine),
        "cached_before_bytes": recorded.cached_before,
        "lumped_before_bytes": recorded.lumped_before,
        "board": board_line(setup.machine),
    }


def _table(rows: list[Replayed]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([row._asdict() for row in rows])


def _readable(rows: list[Replayed]) -> pd.DataFrame:
    """Return the rows for a person: bytes in units, shares in per cent, what is not known left open."""
    from workbench.number_text import bytes_said

    table = _table(rows)
    for name in _BYTES:
        table[name] = [bytes_said(size) if size == size else "-" for size in table[name]]
    for name in ("fragmentation", "cache_hit_rate"):
        table[name] = [f"{share:.1%}" if share == share else "-" for share in table[name]]
    for name in ("driver_calls", "refused"):
        table[name] = [f"{count:.0f}" if count == count else "-" for count in table[name]]
    return table.rename(columns=lambda name: name.removesuffix("_bytes").replace("_", " "))


REPLAY = _arguments_of_replay, _run_replay
