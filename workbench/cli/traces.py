"""`workbench trace import | replay | residency`: what recorded traces hold, and what would have become of them.

What a real trace or topology holds, and a trace as workload columns; what each policy would have done with the memory
that a trace recorded; what granule and placement rule cost the kernels of recorded traces.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.cli.main import DONE, SOME_FAILED
from workbench.cli.output import say_json, say_lines, say_notes, say_table
from workbench.cli.run import levers_of
from workbench.errors import InputError, wrong_value
from workbench.experiments.progress import Bar
from workbench.strict_yaml import parse_value

if TYPE_CHECKING:
    import pandas as pd

    from workbench.studies.pool.replay import Replayed
    from workbench.studies.torch_memory.snapshot import CacheRow, SnapshotReplay


_WANTS = {"shared_memory": "workgroups", "dispatch": "groups", "translation": "accesses", "pool": "pool_requests"}
"""What the engines serve that a trace can be asked for."""
_USUAL_BOARD = "dgx_1v"
"""The machine of a pool file where none is named: only the ids of its GPUs are in the file."""


def _arguments_of_import(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a trace or topology file, or a public one's name")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", metavar="CSV", help="write a workload file for a machine")
    parser.add_argument("--engine", choices=list(_WANTS), default="shared_memory", help="the engine that --out is for")
    parser.add_argument("--machine", metavar="PRESET", help="the machine that --out is for (default: the trace's card)")
    parser.add_argument("--set", action="append", default=[], metavar="LEVER=VALUE", help="levers of the conversion")
    parser.add_argument("--fetch", metavar="NAME", help="get a public trace from its repository first")
    parser.add_argument("--list", action="store_true", help="list the public traces and whether they are here")
    _add_importer(parser)


def _add_importer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--importer", metavar="FILE.py:CLASS", help="an importer of yours, which is to read the traces")


def _enter_importer(named: str | None, traces: Sequence[str]) -> None:
    """Enter an importer from a file of the user's, after which it reads files as any other; refuse what another reads.

    Raises
    ------
    InputError
        There is no such file or importer, or a trace is not read by it.
    """
    if named is None:
        return
    from workbench.parts import from_file, is_in_file
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.importers import Importer, importer_of

    def is_importer(value: object) -> bool:
        return isinstance(value, type) and issubclass(value, Importer) and value is not Importer

    if not is_in_file(named):
        raise wrong_value("", "--importer", "must be FILE.py:CLASS", named)
    importer: type[Importer] = from_file(named, Path(), "--importer", "importer", is_importer)
    for trace in traces:
        reader = importer_of(trace_file(trace))
        if not isinstance(reader, importer):
            raise InputError(
                f"--importer: {trace} is read by {reader.format}; {named} must recognise it, and have a format that "
                f"comes before {reader.format} in the alphabet. Got {importer.format}."
            )


def _run_import(given: argparse.Namespace) -> int:
    from workbench.workloads.catalogue import fetch

    if given.list:
        return _list_traces(given.json)
    file = given.file or given.fetch
    if not file:
        raise InputError("workbench trace import takes a trace file, or --fetch NAME, or --list.")
    if given.fetch:
        fetch(given.fetch)
    _enter_importer(given.importer, [file])
    if given.out:
        return _write(given, file)
    return _describe(file, given.json)


def _describe(file: str, as_json: bool) -> int:
    facts = _facts_of_trace(file)
    if as_json:
        say_json(facts)
    else:
        for name, value in facts.items():
            print(f"{name}: {value}")
    return DONE


def _facts_of_trace(file: str) -> dict[str, Any]:
    """Return what a trace or a topology holds."""
    from workbench.machine.topologies import is_topology, read_topology
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.trace_import import describe, origin

    path = trace_file(file)
    return {**origin(path), **read_topology(path).facts()} if is_topology(path) else describe(file)


def _write(given: argparse.Namespace, file: str) -> int:
    from workbench.workloads.trace_import import write_columns
    from workbench.workloads.workload_key import outside

    kind: Any = outside("trace", _WANTS[given.engine])
    workload = kind.read({"trace": file, **levers_of(given.set)}, "--set", "workbench trace import")
    machine, described = _machine(given, file)
    facts = write_columns(workload, described, given.out)
    if given.json:
        say_json({"out": given.out, "machine": machine, **facts})
    else:
        print(
            f"wrote {given.out} for {machine}: "
            + ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in facts.items())
        )
    return DONE


def _machine(given: argparse.Namespace, file: str) -> tuple[str, Any]:
    """Return the machine that the file is for, by name and itself."""
    from workbench.experiments.plan import read_machine
    from workbench.machine import Board, Machine, TranslationMachine

    if given.engine == "pool":
        name = given.machine or _USUAL_BOARD
        return name, read_machine(Board, name, Path(), "--machine")
    name = given.machine or _card_of(file)
    of = TranslationMachine if given.engine == "translation" else Machine
    return name, read_machine(of, name, Path(), "--machine")


def _card_of(file: str) -> str:
    """Return the preset of the card that a trace was recorded on."""
    from workbench.machine import preset_for_device
    from workbench.workloads.catalogue import trace_file
    from workbench.workloads.importers import read_trace

    names = [card.name for card in read_trace(trace_file(file)).cards]
    preset_name = next((preset for preset in map(preset_for_device, names) if preset), None)
    if preset_name is None:
        raise InputError(f"{file} was recorded on {', '.join(names) or 'no card that it names'}; say --machine PRESET.")
    return preset_name


def _list_traces(as_json: bool) -> int:
    from workbench.workloads.catalogue import available, catalogue

    rows = [
        {"name": e.name, "format": e.format, "licence": e.licence, "here": available(e.name)}
        for e in catalogue().values()
    ]
    if as_json:
        say_json({"traces": rows})
    else:
        for row in rows:
            say_lines([f"{row['name']:<28} {'here' if row['here'] else '-':<5} {row['format']:<27} {row['licence']}"])
    return DONE


IMPORT = _arguments_of_import, _run_import

WITH_LENDING = ("local_only", "max_bandwidth")
"""Who lends on cards of another size, unless --target says it: nobody, and the document's first rule."""
_BYTES = ("reserved_peak_bytes", "active_peak_bytes", "borrowed_peak_bytes")


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
        "and with_cache beside it where the trace tells no addresses)",
    )
    parser.add_argument("--ask-refused", action="store_true", help="ask also for what the recorded allocator refused")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override of the sweep")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: as many as pay off)")
    parser.add_argument("--out", metavar="DIR", help="keep the runs: a results folder for results, figures and export")
    parser.add_argument("--figure", metavar="DIR", help="draw memory over the requests, as PDF, PNG and CSV")
    parser.add_argument("--csv", metavar="FILE", help="write the rows as CSV")
    _add_importer(parser)
    parser.add_argument("--wide", action="store_true", help="print the table as wide as it is")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _run_replay(given: argparse.Namespace) -> int:
    from workbench.api import planned
    from workbench.experiments.results_folder import write_whole

    _enter_importer(given.importer, [given.file])
    sweep, progress = _sweep(given), Bar(quiet=given.json)
    if given.csv and not Path(given.csv).absolute().parent.is_dir():
        raise InputError(f"--csv: the folder of {given.csv} does not exist; make it, or name another file.")
    exact = _exact(sweep, given.device)
    setup = planned(sweep, set=levers_of(given.set)).points[0].setup
    if exact is not None and _needs_no_pool(given):
        done = Done(_exact_alone(given, setup, exact), [], [])
    else:
        done = _in_pools(given, sweep, setup, exact, progress)
    if given.csv:
        write_whole(Path(given.csv), _table(done.rows).to_csv(index=False))
    _report(given, setup, done, exact)
    return SOME_FAILED if done.failures else DONE


class Done(NamedTuple):
    """What came of a replay."""

    rows: list[Replayed]
    failures: list[Any]
    figures: list[Path]


def _is_alone(given: argparse.Namespace) -> bool:
    """Return whether cards are replayed as they were, so that PyTorch's caches can start as the recording started."""
    return given.card_bytes is None and not given.target and given.before in (None, "ask")


def _needs_no_pool(given: argparse.Namespace) -> bool:
    """Return whether only PyTorch's own caches are asked for: then the engine of pools is neither compiled nor run."""
    from workbench.studies.torch_memory.snapshot import EXACT_CACHES

    named = bool(given.cache) and set(given.cache) <= set(EXACT_CACHES)
    return named and _is_alone(given) and not (given.out or given.figure or given.set)


def _exact_alone(given: argparse.Namespace, setup: Any, exact: SnapshotReplay) -> list[Replayed]:
    """Return the rows of PyTorch's caches, after the recorded one."""
    from workbench.studies.pool.replay import Replayed, recorded_allocator
    from workbench.studies.torch_memory.snapshot import exact_rows

    result, allocations = exact_rows(exact), max(exact.exactness.allocs, 1)
    unknown = Replayed("", math.nan, math.nan, math.nan, math.nan, math.nan, borrowed_peak_bytes=0.0, refused=math.nan)
    rows = [_exactly(unknown._replace(policy=name), result[name], allocations) for name in dict.fromkeys(given.cache)]
    recorded = recorded_allocator(setup.workload)
    return [*([recorded] if recorded else []), *rows]


def _in_pools(
    given: argparse.Namespace, sweep: dict[str, Any], setup: Any, exact: SnapshotReplay | None, progress: Any
) -> Done:
    """Return the rows of a sweep of the engine `pool`."""
    from workbench.api import run as run_sweep
    from workbench.studies.pool.replay import replayed

    how: Any = {"set": levers_of(given.set), "workers": given.workers, "progress": progress}
    results = run_sweep(sweep, given.out, **how)
    rows, failures = replayed(results), list(results.failures)
    if exact is not None:
        rows = _with_exact(rows, exact, alone=_is_alone(given))
    elif given.before is None and setup.workload.recorded().cached_before:
        full = {"trace_pool": {**sweep["workload"]["trace_pool"], "before": "with_cache"}}  # as the recorded one was
        other = run_sweep({**sweep, "workload": full, "figures": []}, None, **how)
        rows += [_of_full(row) for row in replayed(other) if row.policy != "recorded"]
        failures += other.failures
    figures: list[Path] = []
    if given.figure:
        from workbench.figures import draw_all

        figures = draw_all(results, Path(given.figure))
    return Done(rows, failures, figures)


def _of_full(row: Replayed) -> Replayed:
    """Return a row by the name of its reading; what is active at the peak then counts what was only cached."""
    return row._replace(policy=f"{row.policy}, from full", active_peak_bytes=math.nan, fragmentation=math.nan)


def _exact(sweep: dict[str, Any], device: int) -> SnapshotReplay | None:
    """Return the replay by PyTorch's own rules from where the recording began; None if the trace is no memory
    snapshot."""
    from workbench.studies.torch_memory.snapshot import replay_of_file
    from workbench.workloads.workload_key import read_workload

    workload: Any = read_workload(sweep["workload"], wants="pool_requests")
    return replay_of_file(workload.trace_file(), device)


def _with_exact(rows: list[Replayed], exact: SnapshotReplay, alone: bool) -> list[Replayed]:
    """Return the rows with what was recorded over the recorded window, and, on a card of its own, PyTorch's caches
    exactly."""
    from workbench.studies.torch_memory.snapshot import exact_rows

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


def _sweep(given: argparse.Namespace) -> dict[str, Any]:
    """Return what the arguments ask for, as a sweep."""
    from workbench.studies.pool.replay import FIGURES, replay_sweep
    from workbench.units import parse_bytes

    size = parse_bytes(given.card_bytes, "--card-bytes") if given.card_bytes is not None else None
    machine = {"machine": parse_value(given.machine, "--machine")} if given.machine is not None else {}
    sweep = replay_sweep(
        given.file,
        caches=[parse_value(text, "--cache") for text in given.cache],
        targets=[parse_value(text, "--target") for text in given.target] or (WITH_LENDING if size else ()),
        card_bytes=size,
        before=given.before or "ask",
        refused="ask" if given.ask_refused else "leave_out",
        device=given.device,
        **machine,
    )
    if given.figure and not sweep["figures"]:
        raise InputError(f"--figure draws {max(FIGURES.values())} policies at most; name some by --cache and --target.")
    return sweep


_LUMPED = "The trace does not tell which blocks were live before it: one block a card stands for them, {size} in all."
_COLD = "The recorded allocator began with {size} cached; {these}."
_BOTH = (
    "The trace tells no addresses, so how what was cached lay cannot be known; both readings are given: with nothing "
    "cached (a lower bound), and `from full`, with one free block of that size."
)


def _report(given: argparse.Namespace, setup: Any, done: Done, exact: SnapshotReplay | None) -> None:
    facts, (rows, failures, figures) = _facts_of_replay(given, setup), done
    failed = [{"run_id": row.id, "error": row.error} for row in failures]
    if given.json:
        policies = {"policies": [row._asdict() for row in rows], "failed": failed}
        window = _window(rows, exact)
        say_json({**facts, **window, **policies, "folder": given.out, "figures": [str(path) for path in figures]})
        return
    counts = f"{facts['requests']} requests, {facts['allocations']} of them allocations"
    say_lines([f"{facts['trace']}: {counts}; {facts['board']}"])
    say_table(_said(rows), given.wide)
    if exact is not None:
        say_lines([f"PyTorch's own rules from where the recording began: {exact.exactness}."])
    _note_what_was_before(given, facts, exact)
    for one in failed:
        say_lines([f"failed: {one['error']}"])
    if given.out:
        print(f"kept in {given.out}: workbench results {given.out}, workbench export {given.out} --to PAPER")
    for path in figures:
        if path.suffix == ".png":
            print(f"figure: {path}")


def _window(rows: list[Replayed], exact: SnapshotReplay | None) -> dict[str, Any]:
    """Return what was recorded and what each cache did between the first and the last event."""
    window = {row.policy: {name: _whole(getattr(row, name)) for name in _WINDOW} for row in rows}
    recorded = window.pop("recorded", None)
    return {
        "exactness": exact.exactness._asdict() if exact else None,
        "recorded": exact.recorded._asdict() if exact else recorded,
        "caches": [{"policy": policy, **figures} for policy, figures in window.items()],
    }


_WINDOW = ("reserved_peak_bytes", "active_peak_bytes", "driver_calls", "refused")


def _whole(number: float) -> int | None:
    """Return a count as JSON writes it, nothing where it is not known."""
    return None if number != number else round(number)


def _note_what_was_before(given: argparse.Namespace, facts: dict[str, Any], exact: SnapshotReplay | None) -> None:
    """Say in which way the pools here did not begin as the recorded allocator did."""
    from workbench.units import bytes_said

    if facts["lumped_before_bytes"] and given.before != "leave_out":
        say_lines([_LUMPED.format(size=bytes_said(facts["lumped_before_bytes"]))])
    if facts["cached_before_bytes"] and given.before != "with_cache":
        others = "the caches that are not PyTorch's begin with what was live alone"
        these = (
            others if exact else "the pools here begin with what was live alone, so what they reserve is a lower bound"
        )
        say_lines([_COLD.format(size=bytes_said(facts["cached_before_bytes"]), these=these)])
        if exact is None and given.before is None:
            say_lines([_BOTH])


def _facts_of_replay(given: argparse.Namespace, setup: Any) -> dict[str, Any]:
    """Return what was replayed, and where."""
    from workbench.machine.board import board_line

    recorded = setup.workload.recorded()
    return {
        "trace": given.file,
        **setup.workload.facts(setup.machine),
        "cached_before_bytes": recorded.cached_before,
        "lumped_before_bytes": recorded.lumped_before,
        "board": board_line(setup.machine),
    }


def _table(rows: list[Replayed]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame([row._asdict() for row in rows])


def _said(rows: list[Replayed]) -> pd.DataFrame:
    """Return the rows for a person: bytes in units, shares in per cent, what is not known left open."""
    from workbench.units import bytes_said

    table = _table(rows)
    for name in _BYTES:
        table[name] = [bytes_said(size) if size == size else "-" for size in table[name]]
    for name in ("fragmentation", "cache_hit_rate"):
        table[name] = [f"{share:.1%}" if share == share else "-" for share in table[name]]
    for name in ("driver_calls", "refused"):
        table[name] = [f"{count:.0f}" if count == count else "-" for count in table[name]]
    return table.rename(columns=lambda name: name.removesuffix("_bytes").replace("_", " "))


REPLAY = _arguments_of_replay, _run_replay


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
    _add_importer(parser)
    parser.add_argument("--units", type=int, default=10, help="runs a rule, each another unit's share; 0 = no rules")
    parser.add_argument(
        "--longest-us", type=float, default=200.0, help="longer kernels are in no run by rule (default: 200)"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--wide", action="store_true", help="print the tables as wide as they are")


def _run_residency(given: argparse.Namespace) -> int:
    from workbench.studies.residency import GRANULES, public_traces, survey

    traces = given.traces or public_traces()
    if not traces:
        raise InputError("workbench trace residency: no public trace of kernels is on this machine; name a trace file.")
    _enter_importer(given.importer, given.traces)
    result = survey(traces, given.machine, given.granules or GRANULES, units=given.units, longest_us=given.longest_us)
    tables = {name: getattr(result, name) for name in ("told", "granules", "rules")}
    if given.json:
        say_json({**{name: table.to_dict("records") for name, table in tables.items()}, "left_out": result.left_out})
        return DONE
    for table in tables.values():
        if len(table):
            say_table(table, given.wide)
    say_notes(result.left_out)
    return DONE


RESIDENCY = _arguments_of_residency, _run_residency
