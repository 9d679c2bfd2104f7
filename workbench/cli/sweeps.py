"""The arguments that commands share which do runs: a sweep, what is changed of it, its workers."""

from __future__ import annotations

import argparse
from typing import Any

from workbench.errors import InputError
from workbench.experiments.progress import Bar
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
