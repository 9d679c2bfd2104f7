"""`workbench sensitivity STUDY`: which levers does a measure depend on, alone and together?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.command import DONE, Command
from workbench.cli.output import add_table_arguments, say_json, say_notes, say_table
from workbench.cli.progress import Bar
from workbench.cli.run import counted, default_folder
from workbench.cli.sweep_arguments import add_sweep_arguments, add_worker_arguments, executor_of, overrides

if TYPE_CHECKING:
    from workbench.studies.sensitivity import Sensitivity


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_sweep_arguments(parser)
    parser.add_argument("--measure", metavar="NAME", help="one measure (default: all that the sweep names)")
    parser.add_argument(
        "--of",
        choices=("mean", "gain"),
        default="mean",
        help="the measure itself, or its paired difference to the baseline",
    )
    parser.add_argument("--out", metavar="DIR", help="the results folder (default: results/ and the study's path)")
    add_worker_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_table_arguments(parser)


def run(given: argparse.Namespace) -> int:
    from workbench.api import planned, sensitivity
    from workbench.studies.sensitivity import check

    chosen = overrides(given)
    folder = Path(given.out) if given.out else default_folder(given.sweep)
    plan = planned(given.sweep, set=chosen)
    check(plan.sweep, given.measure, given.of)
    if not given.json:
        print(counted(plan))
    analysis = sensitivity(
        given.sweep,
        folder,
        measure=given.measure,
        of=given.of,
        set=chosen,
        workers=given.workers,
        executor=executor_of(given),
        progress=Bar(quiet=given.json),
    )
    figures = draw(analysis, folder / "figures", given.measure, given.of)
    _report(analysis, folder, figures, given)
    return DONE


def draw(sensitivity: Sensitivity, folder: Path, measure: str | None, of: str) -> list[Path]:
    """Draw the figures of one measure, the first of the study if None: all levers, and pairs where they were
    estimated."""
    from workbench.figures import figure
    from workbench.figures.save import save

    names = ["sensitivities", *(["interactions"] if len(sensitivity.pairs) else [])]
    saved: list[Path] = []
    for recipe in map(figure, names):
        data = recipe.choose(sensitivity.results, measure=measure, of=of)
        saved += save(recipe.draw(data), data, folder, recipe.name)
    return saved


def _report(sensitivity: Sensitivity, folder: Path, figures: list[Path], given: argparse.Namespace) -> None:
    if given.json:
        tables: dict[str, Any] = {
            "table": sensitivity.table.to_dict("records"),
            "pairs": sensitivity.pairs.to_dict("records"),
            "undecided": sensitivity.undecided,
        }
        say_json(
            {"folder": str(folder), "runs": len(sensitivity.results.rows), **tables, "figures": list(map(str, figures))}
        )
        return
    say_table(sensitivity.table, given.wide, given.csv)
    if len(sensitivity.pairs):
        say_table(sensitivity.pairs, given.wide)
    say_notes(sensitivity.undecided)
    print(f"{len(sensitivity.results.rows)} runs in {sensitivity.results.seconds:.1f} s, kept in {folder}")
    print("\n".join(f"figure: {path}" for path in figures if path.suffix == ".png"))


COMMAND = Command("sensitivity", "Which levers a measure depends on, alone and together.", add_arguments, run)
