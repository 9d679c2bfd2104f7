"""How commands speak: words and tables for people, or one JSON object and nothing else."""

from __future__ import annotations

import json
import math
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

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
    for note in notes[:MOST_NOTES]:
        print(note)
    if len(notes) > MOST_NOTES:
        print(f"... and {len(notes) - MOST_NOTES} more such lines (--json has all)")


def as_wide_as_terminal(sentences: Iterable[str], most: int = 100) -> None:
    """Print sentences in lines no wider than the terminal, at most so many columns, each after its first set in."""
    width = min(shutil.get_terminal_size().columns, most)
    for sentence in sentences:
        print(textwrap.fill(sentence, width, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False))


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


def say_table(table: pd.DataFrame) -> None:
    """Print a table for a person, numbers short, nothing cut."""
    import pandas as pd

    with pd.option_context("display.width", 200, "display.max_columns", None, "display.max_colwidth", 90):
        print(table.to_string(index=False, float_format=lambda number: f"{number:.5g}", na_rep="-"))


def say_summary(results: Results, wide: bool, most: int | None = None) -> bool:
    """Print what came out, one line a comparison, as wide as the terminal; or, wide, every column of the summary.

    Of a summary of more rows than `most` the first measure alone is printed; return whether it was so.
    """
    summary = results.summary()
    is_long = most is not None and len(summary) > most
    if wide:
        say_table(summary[summary["measure"] == summary["measure"].iloc[0]] if is_long else summary)
        return is_long
    from workbench.studies.sentences import KEY, blocks, fitted

    every = blocks(results)
    for line in fitted(every[:1] if is_long else every, shutil.get_terminal_size().columns):
        print(line)
    if any(line.is_compared for block in every for line in block.lines):
        print(KEY)
    return is_long
