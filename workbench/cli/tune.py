"""`workbench tune STUDY`: let a tuner choose, and run the best once more on seeds that no trial has seen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json
from workbench.cli.progress import Bar
from workbench.cli.run import default_folder
from workbench.cli.say_study import say_study, study_facts
from workbench.cli.sweep_arguments import add_worker_arguments, executor_of, levers_of
from workbench.errors import InputError
from workbench.strict_yaml import read_mapping

PORT = 8080


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a study file (YAML), such as sweeps/tune/dispatch.yaml")
    parser.add_argument("--trials", type=int, metavar="N", help="how many, those that are kept included")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override by dotted path")
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the study's path)")
    parser.add_argument(
        "--hold-out",
        metavar="WORKLOAD",
        help="compare the best with the baseline on a workload that is not tuned on: a regime, a trace, or YAML",
    )
    add_worker_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--dashboard", action="store_true", help="tune nothing: show the study in the browser, also while it is tuned"
    )
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"of the dashboard (default: {PORT})")
    parser.add_argument("--token", metavar="TEXT", help="of the dashboard (default: JUPYTER_TOKEN, else a new one)")


def run(given: argparse.Namespace) -> int:
    folder = Path(given.out) if given.out else default_folder(given.study)
    chosen = levers_of(given.set)
    _refuse_sweep(given.study)
    if given.dashboard:
        return _dashboard(given, folder, chosen)
    from workbench.figures import draw_study
    from workbench.studies.tuning import tune

    watch, executor = Bar(quiet=given.json), executor_of(given)
    results = tune(
        given.study,
        folder,
        given.trials,
        given.workers,
        watch,
        set=chosen,
        executor=executor,
        hold_out=given.hold_out,
    )
    figures = draw_study(results, folder / "figures")
    if given.json:
        say_json(study_facts(results, folder, figures))
    else:
        say_study(results, folder, figures)
    return SOME_FAILED if results.any_failed else DONE


def _refuse_sweep(file: str) -> None:
    """Refuse a sweep: for this mistake there is a better sentence than that something is missing."""
    config = read_mapping(Path(file))
    if "objectives" not in config and "engine" in config:
        raise InputError(f"{file}: is a sweep, not a study: it has no objectives; run it with: workbench run {file}")


def _dashboard(given: argparse.Namespace, folder: Path, chosen: dict[str, Any]) -> int:
    from workbench.dashboards.serve import token_of
    from workbench.studies.tuning import read_study
    from workbench.studies.tuning.dashboard import address, serve

    study, token = read_study(given.study, chosen), token_of(given.token)
    print(f"{address(given.port, token)} (Ctrl-C ends it)", flush=True)
    serve(study, folder, given.port, token)
    return DONE


COMMAND = Command("tune", "Tune policies and levers against several measures.", add_arguments, run)
