"""`workbench validate`: the laws of the engines compared with public measurements on real cards."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workbench.cli._output import add_table_arguments, say_json, say_lines, say_table
from workbench.cli.commands import DONE


def _arguments_of_validate(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Compare the laws of the engines with public measurements on real cards. Each row is a law on a data set: the "
        "levers that were fitted, the error on the points that were not, the error of the simplest rival, the verdict."
    )
    parser.add_argument("engine", metavar="ENGINE", nargs="?", default="", help="one engine (default: all)")
    parser.add_argument(
        "--from-files",
        metavar="DIR",
        help="repeat it from public files below a folder, also of other cards; levers are fitted on them",
    )
    parser.add_argument("--all", action="store_true", help="show laws too that no preset or default has")
    parser.add_argument("--figures", metavar="DIR", help="draw one figure a data set into a folder")
    add_table_arguments(parser)


def _run_validate(args: argparse.Namespace) -> int:
    import pandas as pd

    from workbench.validation.table import REASONS, blocks, rows
    from workbench.validation.validate import validate, validate_files

    compared = validate_files(Path(args.from_files), args.engine) if args.from_files else validate(args.engine)
    every = rows(compared)
    drawn = _drawn(compared) if args.figures else []
    if args.csv:
        from workbench.experiments.results_folder import write_whole

        write_whole(Path(args.csv), pd.DataFrame(every).to_csv(index=False))
    saved = [path for save in drawn for path in save(Path(args.figures))]
    if args.json:
        say_json({"rows": every, "figures": [str(path) for path in saved]})
        return DONE
    stated = [row for row in every if args.all or not row["alternative"]]
    for heading, laws, lines in blocks(stated):
        say_lines([heading])
        say_table(pd.DataFrame(laws), args.wide)
        say_lines([*lines, ""])
    counts = Counter(row["verdict"] for row in stated)
    reasons = Counter(row["reason"] for row in stated)
    left = len(every) - len(stated)
    say_lines([", ".join(f"{count} {verdict}" for verdict, count in counts.items())])
    say_lines([f"{reasons[reason]} {meaning}" for reason, meaning in REASONS.items() if reasons[reason]])
    say_lines([f"{left} laws that no preset or default has are left out: --all"] * (left > 0))
    say_lines([f"figure: {path}" for path in saved])
    return DONE


def _drawn(compared: list) -> list[Callable[[Path], list[Path]]]:
    """Return the functions that save the figure of each data set into a folder; all are drawn before one is saved."""
    from workbench.figures import figure_files
    from workbench.figures._measured_and_predicted import curves_of, draw_measured_and_predicted

    kinds = [(each.data_set.name, curves_of(each)) for each in compared if any(one.curves for one in each.results)]
    figures = [(name, data, draw_measured_and_predicted(data)) for name, data in kinds]
    return [partial(figure_files.save, figure, data, name=name) for name, data, figure in figures]


VALIDATE = _arguments_of_validate, _run_validate
