"""How commands speak: sentences and tables as wide as the terminal, or one JSON object and nothing else."""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.number_text import number, probability

if TYPE_CHECKING:
    import pandas as pd

    from workbench.experiments.results import Results


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


def add_output_arguments(parser: argparse.ArgumentParser, json: str = "print one JSON object") -> None:
    """Add --json and --quiet to a parser, for a command that prints results; `main` obeys --quiet."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--json", action="store_true", help=json)
    chosen.add_argument("-q", "--quiet", action="store_true", help="print errors alone; the exit status says the rest")


def add_table_arguments(parser: argparse.ArgumentParser, json: str = "print one JSON object") -> None:
    """Add --json, --quiet, --wide and --csv to a parser, for a command that prints a table."""
    add_output_arguments(parser, json)
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


def add_summary_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --wide and --words to a parser, for a command that prints what came out of a sweep."""
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--wide", action="store_true", help="print more columns, such as p-values, however wide")
    chosen.add_argument("--words", action="store_true", help="print one sentence a comparison instead of the table")


def say_summary(
    results: Results, wide: bool, most: int | None = None, before: Sequence[str] = (), words: bool = False
) -> bool:
    """Print the table of results, as wide as the terminal; or, wide, with more columns; or as sentences.

    Of a summary of more rows than `most` the first measure alone is printed; return whether it was so. A sentence on
    seeds that was printed `before` the runs is not repeated.
    """
    from workbench.statistics.result_table import result_table

    measures = results.plan.sweep.measures
    is_long = most is not None and len(results.points) * len(measures) > most
    if words:
        _say_words(results, is_long, before)
        return is_long
    table = result_table(results, measures[0] if is_long else None)
    table = table._replace(notes=[note for note in table.notes if note not in before])
    is_terminal = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in table.lines(None if wide else min(terminal_width(), MOST_COLUMNS), is_terminal):
        print(line)
    return is_long


def _say_words(results: Results, is_long: bool, before: Sequence[str]) -> None:
    from workbench.statistics.sentences import blocks, fitted, key, looks_note, too_few_seeds

    displayed = blocks(results)[: 1 if is_long else None]
    for line in fitted(displayed, shutil.get_terminal_size().columns):
        print(line)
    if words := key(displayed, results):
        say_lines([*words, *looks_note(results), *(few for few in too_few_seeds(results.plan) if few not in before)])


_GAP = 2
"""Columns between two cells."""
_NARROWEST = 24
"""Of a column whose words are wrapped."""
MOST_COLUMNS = 120
"""Prose is no wider than this, however wide the terminal."""


def terminal_width() -> int:
    """Return the columns of the terminal: `COLUMNS`, or its own, or 80 where there is none."""
    return max(shutil.get_terminal_size().columns, 2 * _NARROWEST)


def wrapped(line: str, width: int, further: int = 4) -> list[str]:
    """Return a line as lines of a width, those after the first set in further; words that are too long stay whole.

    >>> wrapped("  a line that is too long", 16)
    ['  a line that is', '      too long']
    """
    if len(line) <= width:
        return [line]
    start = len(line) - len(line.lstrip())
    rest = " " * (start + further)
    return textwrap.wrap(
        line.strip(),
        width,
        initial_indent=line[:start],
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def say_figures(paths: Sequence[Path]) -> None:
    """Print a line a figure: its picture, and the endings of the other files of its name that were written.

    >>> say_figures([Path("a.pdf"), Path("a.png"), Path("a.csv")])
    figure: a.png (and .csv, .pdf)
    """
    for path in paths:
        if path.suffix == ".png":
            others = sorted(one.suffix for one in paths if one.with_suffix(".png") == path and one != path)
            also = f" (and {', '.join(others)})" if others else ""
            print(f"figure: {path}{also}")


def say_lines(lines: Iterable[str]) -> None:
    """Print lines of prose, wrapped where the terminal is narrower; whole in a pipe or a file, so that `grep` has all.

    With `COLUMNS` set they are wrapped at that width wherever they go.
    """
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = min(terminal_width(), MOST_COLUMNS) if known else sys.maxsize
    for line in lines:
        for one in line.splitlines() or [""]:
            print("\n".join(wrapped(one, width)))


def cell(name: str, value: Any) -> str:
    """Return a value as a table shows it: whole numbers exactly, others in three digits, a small p as that.

    >>> cell("bytes", 85899345920), cell("mean", 0.123456), cell("p_size", 1e-9), cell("mean", float("nan"))
    ('85,899,345,920', '0.123', '<0.001', '-')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(cell(name, one) for one in value)
    if hasattr(value, "item"):
        value = value.item()
    if name == "p" or name.startswith(("p_", "quasi_p")):
        return probability(float(value))
    return number(value, 3) if isinstance(value, (int, float)) else str(value)


def table_lines(table: pd.DataFrame, width: int) -> Iterator[str]:
    """Yield a table in lines of a width: in columns, the widest words wrapped; or, of many columns, a part a row."""
    names = [str(name) for name in table.columns]
    rows = [[cell(name, value) for name, value in zip(names, row)] for row in table.itertuples(index=False)]
    widths = [max(len(part) for part in column) for column in zip(names, *rows)]
    is_number = [not any(isinstance(value, str) for value in table[name]) for name in table.columns]
    excess = sum(widths) + _GAP * (len(names) - 1) - width
    if excess > 0 and names:
        widest = max(range(len(names)), key=lambda k: 0 if is_number[k] else widths[k])
        longest = max(len(word) for row in [names, *rows] for word in row[widest].split() or [""])
        if is_number[widest] or widths[widest] - excess < max(_NARROWEST, longest):
            yield from _one_below_another(names, rows, width)
            return
        widths[widest] -= excess
    for row in [names, *rows]:
        yield from _lines_of_row(row, widths, is_number)


def _lines_of_row(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> Iterator[str]:
    parts = [
        textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
        for text, width in zip(row, widths, strict=True)
    ]
    for k in range(max(map(len, parts))):
        cells = [lines[k] if k < len(lines) else "" for lines in parts]
        shaped = [
            f"{text:>{width}}" if right else f"{text:<{width}}"
            for text, width, right in zip(cells, widths, is_number, strict=True)
        ]
        yield (" " * _GAP).join(shaped).rstrip()


def _one_below_another(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row as its first cell, and below it the others with their names, as many a line as fit."""
    for row in rows:
        yield from wrapped(row[0], width)
        facts = [f"{name} {text}" for name, text in zip(names[1:], row[1:], strict=True) if text not in ("", "-")]
        line = ""
        for fact in facts:
            if line and len(line) + len(fact) + 6 > width:
                yield from wrapped(f"    {line}", width)
                line = ""
            line = f"{line}; {fact}" if line else fact
        if line:
            yield from wrapped(f"    {line}", width)
