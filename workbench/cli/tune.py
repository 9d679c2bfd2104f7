"""`workbench tune STUDY`: let a tuner choose, and run the best once more on seeds that no trial has seen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json, say_table
from workbench.cli.progress import Bar
from workbench.cli.run import default_folder
from workbench.cli.sweep_arguments import add_worker_arguments, executor_of, levers_of
from workbench.errors import InputError
from workbench.strict_yaml import read_mapping

if TYPE_CHECKING:
    from workbench.studies.tuning import StudyResults


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a study file (YAML), such as sweeps/tune/placement.yaml")
    parser.add_argument("--trials", type=int, metavar="N", help="how many, those that are kept included")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override by dotted path")
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the study's path)")
    add_worker_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    from workbench.studies.tuning import tune

    folder = Path(given.out) if given.out else default_folder(given.study)
    chosen, watch = levers_of(given.set), Bar(quiet=given.json)
    _refuse_sweep(given.study)
    executor: Any = executor_of(given)
    found = tune(given.study, folder, given.trials, given.workers, watch, set=chosen, executor=executor)
    front = found.pareto if found.holdout is not None else None
    figures = _draw(found, folder) if front is not None else []
    if given.json:
        rows = front.to_dict("records") if front is not None else []
        facts = {"folder": str(folder), "trials": len(found.found), "failed": len(found.failures), "pareto": rows}
        say_json({**facts, "seconds": found.seconds, "figures": [str(path) for path in figures]})
    else:
        if front is not None:
            say_table(front)
        print(f"{len(found.found)} trials ({len(found.failures)} failed) in {found.seconds:.1f} s, kept in {folder}")
        print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))
    return SOME_FAILED if found.any_failed else DONE


def _refuse_sweep(file: str) -> None:
    """A sweep is a mistake for which there is a better sentence than that something is missing."""
    said = read_mapping(Path(file))
    if "objectives" not in said and "engine" in said:
        raise InputError(f"{file}: is a sweep, not a study: it has no objectives; run it with: workbench run {file}")


def _draw(found: StudyResults, folder: Path) -> list[Path]:
    from workbench.figures import draw_front

    return draw_front(found, folder / "figures")


COMMAND = Command("tune", "Tune policies and levers against several measures.", add_arguments, run)
