"""Text and tables that are no wider than the terminal."""

from __future__ import annotations

import math
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

GAP = 2
"""Columns between two cells."""
NARROWEST = 24
"""Of a column whose words are wrapped."""
MOST = 120
"""Prose is no wider than this, however wide the terminal."""


def terminal_width() -> int:
    """Return the columns of the terminal: `COLUMNS`, or its own, or 80 where there is none."""
    return max(shutil.get_terminal_size().columns, 2 * NARROWEST)


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


def say_lines(lines: Iterable[str]) -> None:
    """Print lines of prose, wrapped where the terminal is narrower; whole in a pipe or a file, so that `grep` has all.

    With `COLUMNS` set they are wrapped at that width wherever they go.
    """
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    width = min(terminal_width(), MOST) if known else sys.maxsize
    for line in lines:
        for one in line.splitlines() or [""]:
            print("\n".join(wrapped(one, width)))


def cell(name: str, value: Any) -> str:
    """Return a value as a table shows it: whole numbers exactly, others in three digits, a small p as that.

    >>> cell("bytes", 85899345920), cell("mean", 0.123456), cell("p_holm", 1e-9), cell("mean", float("nan"))
    ('85,899,345,920', '0.123', '<0.001', '-')
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "-"
    if isinstance(value, (bool, str)):
        return str(value)
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    if hasattr(value, "item"):
        value = value.item()
    if name == "p" or name.startswith(("p_", "quasi_p")):
        from workbench.studies.sentences import probability

        return probability(float(value))
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer() and abs(value) < 1e15):
        return f"{value:,.0f}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"
    return str(value)


def table_lines(table: pd.DataFrame, width: int) -> Iterator[str]:
    """Yield a table in lines of a width: in columns, the widest words wrapped; or, of many columns, a part a row."""
    names = [str(name) for name in table.columns]
    rows = [[cell(name, value) for name, value in zip(names, row)] for row in table.itertuples(index=False)]
    widths = [max(len(part) for part in column) for column in zip(names, *rows)]
    is_number = [not any(isinstance(value, str) for value in table[name]) for name in table.columns]
    excess = sum(widths) + GAP * (len(names) - 1) - width
    if excess > 0 and names:
        widest = max(range(len(names)), key=lambda k: 0 if is_number[k] else widths[k])
        longest = max(len(word) for row in [names, *rows] for word in row[widest].split() or [""])
        if is_number[widest] or widths[widest] - excess < max(NARROWEST, longest):
            yield from _one_below_another(names, rows, width)
            return
        widths[widest] -= excess
    for row in [names, *rows]:
        yield from _row(row, widths, is_number)


def _row(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> Iterator[str]:
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
        yield (" " * GAP).join(shaped).rstrip()


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
