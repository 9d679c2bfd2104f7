"""The card that results and studies display themselves by: facts, sentences and the table, as text and as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from workbench.experiments.results import Results
from workbench.number_text import as_written
from workbench.statistics.result_rows import ResultBlock
from workbench.statistics.result_table import ResultTable, result_table

WIDTH = 80
"""Columns of a card as text."""
MOST_LINES = 30
"""Of a card as text."""
MOST_BLOCKS = 8
"""Of a table on a card in HTML."""
MOST_VALUES = 8
"""Of a lever's values."""
_LEAST = 3
"""Lines of a block."""


class Card(NamedTuple):
    """What results say of themselves, for a terminal and for a notebook."""

    heading: str
    facts: Mapping[str, str]
    sentences: Sequence[str]
    table: ResultTable | None
    whole: str = "results.comparisons()"
    """The expression that has the whole table."""

    @property
    def text(self) -> str:
        """Return the card in 80 columns and at most 30 lines, the sentences first."""
        facts = "; ".join(f"{name}: {text}" for name, text in self.facts.items())
        lines = [line for text in (self.heading, facts, *self.sentences) for line in _wrapped(text)]
        return "\n".join([*lines, *self._table_lines(MOST_LINES - len(lines))])

    def _table_lines(self, most: int) -> list[str]:
        """Return as many blocks as there are lines for, or as many rows of the first one."""
        if self.table is None or not self.table.blocks:
            return []
        first = self.table.blocks[0]
        counts = range(min(len(self.table.blocks), max(most // _LEAST, 1)), 0, -1)
        parts = [self.table.blocks[:count] for count in counts]
        parts += [[first._replace(rows=first.rows[:rows])] for rows in range(len(first.rows) - 1, 0, -1)]
        for blocks in parts:
            lines = [*self.table._replace(blocks=blocks).lines(WIDTH), *self._rest(blocks)]
            if len(lines) <= most:
                break
        return lines

    def _rest(self, part: Sequence[ResultBlock]) -> list[str]:
        """Return the line that counts the blocks and rows outside a part, and says where they are; none if none is."""
        assert self.table is not None
        blocks, rows = len(self.table.blocks) - len(part), len(self.table.blocks[0].rows) - len(part[0].rows)
        counts = [
            f"{count} more {noun}{'s' * (count > 1)}" for count, noun in ((rows, "row"), (blocks, "block")) if count
        ]
        return _wrapped(f"and {', '.join(counts)}: {self.whole}") if counts else []

    @property
    def html(self) -> str:
        """Return the card for a notebook."""
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in self.facts.items())
        items = "".join(f"<li>{escape(line)}</li>" for line in self.sentences)
        lists = f"<table>{rows}</table>" * bool(rows) + f"<ul>{items}</ul>" * bool(items)
        return f"<b>{escape(self.heading)}</b>{lists}{self._html_table()}"

    def _html_table(self) -> str:
        if self.table is None or not self.table.blocks:
            return ""
        blocks = self.table.blocks[:MOST_BLOCKS]
        rest = "".join(f"<p>{escape(line)}</p>" for line in self._rest(blocks))
        return self.table._replace(blocks=blocks)._repr_html_() + rest


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, subsequent_indent="    ")


def short_text(items: Sequence[str], whole: str) -> str:
    """Return items in lines of 80 columns, the first ones of many, and the expression that has the whole text.

    >>> short_text([f"claim {k}" for k in range(40)], "report.text").splitlines()[-2:]
    ['claim 28', 'and 11 more of 40: report.text']
    """
    wrapped = [_wrapped(item) for item in items]
    count = len(items)
    while sum(map(len, wrapped[:count])) + (count < len(items)) > MOST_LINES and count > 1:
        count -= 1
    rest = [f"and {len(items) - count} more of {len(items)}: {whole}"] if count < len(items) else []
    return "\n".join([*(line for lines in wrapped[:count] for line in lines), *rest])


def results_card(results: Results) -> Card:
    """Return the card of results: runs, points and seeds, what differs, and the table."""
    sweep, points = results.plan.sweep, results.points
    failed = f", {len(results.failures)} failed" if results.failures else ""
    facts = {
        "engine": sweep.mechanism.engine.name,
        "runs": f"{len(results.rows):,} of {len(results.plan):,}{failed}",
        "points": f"{len(points):,} x {len(sweep.seeds):,} seeds",
    }
    facts |= {path: _distinct([as_written(point.coordinates.get(path)) for point in points]) for path in results.varied}
    is_part = results.plan.part is not None
    table = None if is_part or not results.rows else result_table(results)
    heading = str(sweep.config.get("question") or sweep.name)
    return Card(heading, facts, [results.part_sentence] if is_part else [], table)


def _distinct(texts: list[str]) -> str:
    distinct = list(dict.fromkeys(texts))
    more = f" and {len(distinct) - MOST_VALUES} more" if len(distinct) > MOST_VALUES else ""
    return ", ".join(distinct[:MOST_VALUES]) + more
