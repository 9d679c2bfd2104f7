"""How commands speak: words and tables for people, or one JSON object and nothing else."""

from __future__ import annotations

import argparse
import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.fit import say_lines, table_lines, terminal_width

if TYPE_CHECKING:
    import pandas as pd

    from workbench.api import Results

MOST_NOTES = 8
"""Of the sentences below a table that are printed."""


def say_json(value: Any) -> None:
    """Print one JSON object; a number that JSON does not know is null."""
    print(json.dumps(_plain(value), ensure_ascii=False))


def say_notes(notes: Sequence[str]) -> None:
    """Print sentences that belong to a table, one a line, the first few of many."""
    say_lines(notes[:MOST_NOTES])
    if len(notes) > MOST_NOTES:
        print(f"... and {len(notes) - MOST_NOTES} more such lines (--json has all)")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, int, float, bool, type(None))) else str(value)


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --wide and --csv to a parser, for a command that prints a table."""
    parser.add_argument("--wide", action="store_true", help="print the table as wide as it is, five digits a number")
    parser.add_argument("--csv", metavar="FILE", help="write the table as CSV, every digit")


def say_table(table: pd.DataFrame, wide: bool = False, csv: str | None = None) -> None:
    """Print a table for a person, as wide as the terminal: whole numbers exactly, others in three digits.

    Parameters
    ----------
    wide : bool
        Print one line a row, however wide, five digits a number.
    csv : str, optional
        A file for the same with every digit.
    """
    import pandas as pd

    if csv:
        from workbench.experiments.results_folder import write_whole

        write_whole(Path(csv), table.to_csv(index=False))
    if not wide:
        print("\n".join(table_lines(table, terminal_width())))
        return
    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_colwidth", 90):
        print(table.to_string(index=False, float_format=lambda number: f"{number:.5g}", na_rep="-"))


def say_summary(results: Results, wide: bool, most: int | None = None) -> bool:
    """Print what came out, one line a comparison, as wide as the terminal; or, wide, every column of the summary.

    Of a summary of more rows than `most` the first measure alone is printed; return whether it was so.
    """
    summary = results.summary()
    is_long = most is not None and len(summary) > most
    if wide:
        say_table(summary[summary["measure"] == summary["measure"].iloc[0]] if is_long else summary, wide=True)
        return is_long
    from workbench.studies.sentences import blocks, fitted, key, looks_note, too_few_seeds

    every = blocks(results)
    for line in fitted(every[:1] if is_long else every, shutil.get_terminal_size().columns):
        print(line)
    if meant := key(every, results.plan.sweep.estimand):
        say_lines([*meant, *looks_note(results), *too_few_seeds(results)])
    return is_long
