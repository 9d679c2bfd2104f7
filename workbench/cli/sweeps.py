"""What commands share that do runs: the arguments of a sweep and of its workers, and a progress bar."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from typing import Any, Literal, TextIO

from workbench.errors import InputError
from workbench.experiments.progress import LogLines, Pace, span
from workbench.experiments.row import Row
from workbench.strict_yaml import parse_value
from workbench.units import is_count


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


Kind = Literal["terminal", "log", "pipe"]


class Bar:
    """Watches a sweep with a bar on standard error: in a terminal alone.

    A log file gets a line now and then instead, and a pipe nothing. `NO_COLOR` is heard.
    """

    def __init__(self, quiet: bool = False) -> None:
        """Keep the bar to oneself if `quiet`, for output that programs read; what takes long before the first run is
        still said."""
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None
        self._pace: Pace | None = None
        self._lines: LogLines | None = None

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def begin(self, total: int, kept: int) -> None:
        self._bar = self._lines = None
        if self._quiet:
            return
        kind = kind_of(sys.stderr)
        if kind == "terminal":
            self._start(total, kept)
        elif kind == "log":
            self._lines = LogLines()
            self._lines.begin(total, kept)

    def _start(self, total: int, kept: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        # The stream as it is now: whoever replaces it while runs go on would be shown the bar as if it were text.
        console = Console(file=sys.stderr, force_terminal=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pace]}"),
            TextColumn("[red]{task.fields[failed]}"),
            console=console,
        )
        self._bar.start()
        self._pace = Pace(total, kept)
        self._task = self._bar.add_task("runs", total=total, completed=kept, pace="", failed="")

    def advance(self, row: Row) -> None:
        if self._lines is not None:
            self._lines.advance(row)
        if self._bar is None or self._pace is None:
            return
        self._pace.count(row.status != "done")
        failed = f"{self._pace.failed} failed" if self._pace.failed else ""
        self._bar.update(self._task, completed=self._pace.done, pace=_pace_words(self._pace), failed=failed)

    def skip(self, runs: int) -> None:
        if self._lines is not None:
            self._lines.skip(runs)
        if self._bar is not None and self._pace is not None:
            self._pace.skip(runs)
            self._bar.update(self._task, total=self._pace.needed, pace=_pace_words(self._pace))

    def complete(self) -> None:
        if self._lines is not None:
            self._lines.complete()
        if self._bar is not None and self._pace is not None:
            self._pace.complete()
            self._bar.update(self._task, total=self._pace.needed, pace=_pace_words(self._pace))

    def end(self) -> None:
        if self._lines is not None:
            self._lines.end()
        if self._bar is not None:
            self._bar.stop()


def kind_of(stream: TextIO) -> Kind:
    """Return what a stream leads to: a terminal that can redraw a line, a log file, or another program.

    `FORCE_COLOR` makes no terminal of what is none; a dumb one is a log.
    """
    if stream.isatty():
        return "log" if os.environ.get("TERM") == "dumb" else "terminal"
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):  # a stream in memory, which somebody reads later
        return "pipe"
    return "log" if stat.S_ISREG(mode) else "pipe"


def _pace_words(pace: Pace) -> str:
    """Return the rate of the runs, and how long the rest will take while there is one."""
    rate = pace.rate()
    if not rate:
        return ""
    left = f", {span((pace.needed - pace.done) / rate)} left" if pace.done < pace.needed else ""
    return f"{rate:.1f}/s{left}" if rate < 100 else f"{rate:.0f}/s{left}"
