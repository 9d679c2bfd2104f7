"""`workbench tune STUDY`: let a tuner choose, and run the best once more on seeds that no trial has seen."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.command import DONE, SOME_FAILED, Command
from workbench.cli.output import say_json, say_table
from workbench.cli.progress import Bar
from workbench.cli.run import default_folder
from workbench.cli.sweep_arguments import levers_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.studies.tuning import StudyResults

MOST_ROWS = 20
"""Of a table that is printed; the files have all."""
PORT = 8080


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", metavar="STUDY", help="a study file (YAML), such as sweeps/tune/dispatch.yaml")
    parser.add_argument("--trials", type=int, metavar="N", help="how many, those that are kept included")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", help="override by dotted path")
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the study's path)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--dashboard", action="store_true", help="tune nothing: show the study in the browser, also while it is tuned"
    )
    parser.add_argument("--port", type=int, default=PORT, metavar="N", help=f"of the dashboard (default: {PORT})")


def run(given: argparse.Namespace) -> int:
    folder = Path(given.out) if given.out else default_folder(given.study)
    chosen = levers_of(given.set)
    if given.dashboard:
        return _dashboard(given, folder, chosen)
    from workbench.studies.tuning import tune

    watch = Bar(quiet=given.json)
    found = tune(given.study, folder, given.trials, given.workers, watch, set=chosen)
    figures = _draw(found, folder)
    if given.json:
        say_json(_facts(found, folder, figures))
    else:
        _report(found, folder, figures)
    return SOME_FAILED if found.any_failed else DONE


def _dashboard(given: argparse.Namespace, folder: Path, chosen: dict[str, Any]) -> int:
    from workbench.studies.tuning import read_study
    from workbench.studies.tuning.dashboard import serve

    study = read_study(given.study, chosen)
    print(f"http://127.0.0.1:{given.port} (Ctrl-C ends it)", flush=True)
    serve(study, folder, given.port)
    return DONE


def _report(found: StudyResults, folder: Path, figures: list[Path]) -> None:
    from workbench.studies.tuning.dashboard import dashboard_command

    if found.holdout is not None:
        _say_front(found)
        _say_levers(found)
    print(f"{_counted(found)} in {found.seconds:.1f} s, kept in {folder}")
    for trial in found.failures[:3]:
        print(f"failed: trial {trial.number}: {trial.error}")
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))
    print(f"in the browser: {dashboard_command(found.study, folder)}")


def _say_front(found: StudyResults) -> None:
    """What is still best on fresh seeds, with what it gains over the baseline."""
    table, names = found.pareto, [one.measure.name for one in found.study.objectives]
    best = table[table["best"]].sort_values(names[0])
    gains = {name: [_gain(row, name) for _, row in best.iterrows()] for name in names}
    shown = best[["trial", "policy"]].assign(**gains)
    say_table(shown.head(MOST_ROWS))
    if len(shown) > MOST_ROWS:
        print(f"... and {len(shown) - MOST_ROWS} more")
    fresh = f"{len(best)} of them still on {len(found.study.holdout_seeds)} fresh seeds"
    against = f", {table['beats_baseline'].sum()} beat the baseline in every objective" if _compared(table) else ""
    print(f"{len(table)} trials are on the front, {fresh}{against}")
    if found.history.trials_to(0.95) is not None:
        print(f"95 % of the final hypervolume after {found.history.trials_to(0.95)} of {len(found.found)} trials")


def _compared(table: pd.DataFrame) -> bool:
    return "beats_baseline" in table


def _gain(row: pd.Series, name: str) -> str:
    """A mean on fresh seeds, and its difference to the baseline with the interval; positive = better."""
    if f"{name}_difference" not in row or row[f"{name}_difference"] != row[f"{name}_difference"]:
        return f"{row[name]:.5g}"
    low, high = row[f"{name}_difference_low"], row[f"{name}_difference_high"]
    return f"{row[name]:.5g} ({row[f'{name}_difference']:+.3g} [{low:+.3g}, {high:+.3g}])"


def _say_levers(found: StudyResults) -> None:
    table = found.importances
    if len(table):
        print("shares of the levers in what makes a trial good (PED-ANOVA):")
        say_table(table.head(8).round(3))


def _counted(found: StudyResults) -> str:
    given_up = f", {len(found.pruned)} given up" if found.study.pruning else ""
    return f"{len(found.found)} trials ({len(found.failures)} failed{given_up})"


def _facts(found: StudyResults, folder: Path, figures: list[Path]) -> dict[str, Any]:
    return {
        "folder": str(folder),
        "trials": len(found.found),
        "failed": len(found.failures),
        "pruned": len(found.pruned),
        "pareto": found.pareto.to_dict("records") if found.holdout is not None else [],
        "trials_to_95_percent": found.history.trials_to(0.95),
        "importances": found.importances.to_dict("records"),
        "seconds": found.seconds,
        "tuner_seconds": found.tuner_seconds,
        "figures": [str(path) for path in figures],
    }


def _draw(found: StudyResults, folder: Path) -> list[Path]:
    from workbench.figures import draw_study

    return draw_study(found, folder / "figures")


COMMAND = Command("tune", "Tune policies and levers against several measures.", add_arguments, run)
