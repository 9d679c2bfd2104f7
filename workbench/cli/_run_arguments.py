"""Arguments that all commands share which do runs: a sweep, what is changed of it, its workers."""

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
    parser.add_argument("--seeds", type=positive_int, metavar="N", help="how many paired seeds")


def overrides(args: argparse.Namespace) -> dict[str, Any]:
    """Return the values of --set and --seeds, by dotted path."""
    return {**parse_overrides(args.set), **({"seeds": args.seeds} if args.seeds is not None else {})}


def parse_overrides(texts: list[str]) -> dict[str, Any]:
    """Return the values of several --set, by dotted path."""
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
    parser.add_argument("--executor", metavar="NAME", help="processes, threads, or an executor of an installed package")
    parser.add_argument(
        "--cluster", metavar="ADDRESS", help="a Dask cluster: tcp://HOST:PORT, or local:4 for one on this machine"
    )


def executor_of(args: argparse.Namespace) -> str | None:
    """Return the executor that --executor or --cluster names."""
    if args.executor and args.cluster:
        raise InputError("--executor and --cluster cannot both be given: a cluster has workers of its own.")
    if args.cluster and ":" not in args.cluster:
        raise InputError(f"--cluster takes tcp://HOST:PORT or local:N. Got {args.cluster!r}.")
    return args.cluster or args.executor


def options_of_run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the overrides, workers and progress of the arguments, by the names of functions of `workbench.api`."""
    return {"set": overrides(args), **workers_of_run(args)}


def workers_of_run(args: argparse.Namespace) -> dict[str, Any]:
    """Return the workers and the progress of the arguments, by the names of functions of `workbench.api`."""
    watch = Bar(quiet=args.json or args.quiet)
    return {"workers": args.workers, "executor": executor_of(args), "progress": watch}


def positive_int(text: str) -> int:
    """Read a whole number of at least 1 for argparse."""
    if not is_count(text) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1. Got {text!r}")
    return int(text)
