"""The numbers that a notebook gives to the table of a batch: what it records, or the value of its last cell.

A headline is what a notebook says in one line (`wb.headline`). A record of scrapbook counts as one.
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from html.parser import HTMLParser
from typing import Any

from workbench.errors import wrong_value
from workbench.number_text import number

MIME = "application/vnd.workbench.headline+json"
"""The key in a cell's output under which a notebook keeps its headline numbers, as pairs: files sort what has keys."""

SCRAPS = ("application/scrapbook.scrap.json+json", "application/scrapbook.scrap.text+json")
"""The keys under which scrapbook keeps a record, which has a name and data."""
MOST_VALUES = 40
"""A last value of more numbers than this is data, not a result."""

Headline = bool | int | float | str


def headline(**values: Any) -> None:
    """Show numbers below a notebook's cell, and record them as columns of the index of a batch.

    A name that is recorded again has its last value. `workbench notebook` writes them into `index.html` and
    `index.csv`, one column a name, one row a notebook; outside a notebook they are printed.

    Parameters
    ----------
    values : numbers or texts by name
        Units go into names: `saved_percent`, `drain_cycles`.

    Raises
    ------
    InputError
        A value is no number, text, True or False.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.headline(saved_percent=12.34567, policy="best_fit", runs=1200)
    saved_percent 12.35, policy best_fit, runs 1,200
    >>> wb.headline(runs=[1, 2])
    Traceback (most recent call last):
    workbench.errors.InputError: headline: runs must be a number, a text, True or False. Got [1, 2].
    """
    plain = {name: _plain(name, value) for name, value in values.items()}
    text = ", ".join(f"{name} {readable(value)}" for name, value in plain.items())
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        from IPython.display import display

        display({"text/plain": text, MIME: [[name, value] for name, value in plain.items()]}, raw=True)
    else:
        print(text)


def headlines(node: Any) -> dict[str, Headline]:
    """Return the numbers of an executed notebook by name, in their first order.

    These are the records of `wb.headline` and of scrapbook. If there is none, they are the value of the last cell.
    """
    return dict(_recorded(node)) or last_value(node)


def _recorded(node: Any) -> Iterator[tuple[str, Headline]]:
    for data in _displayed(node):
        recorded = data.get(MIME)
        if isinstance(recorded, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in recorded):
            yield from ((str(name), value) for name, value in recorded if isinstance(value, Headline))
        for scrap in (data[mime] for mime in SCRAPS if isinstance(data.get(mime), Mapping)):
            value = scrap.get("data")
            named = value if isinstance(value, Mapping) else {scrap.get("name"): value}
            yield from ((str(name), one) for name, one in named.items() if isinstance(one, Headline))


def last_value(node: Any) -> dict[str, Headline]:
    """Return the value of a notebook's last cell if it is a number, a mapping of numbers or a table of one row.

    A number has the name of the variable or attribute that the cell ends with, otherwise `result`. Of a mapping or a
    row, what is no number is left out. Numbers of a table have the digits that the notebook shows.
    """
    cell = next((cell for cell in reversed(node.cells) if cell.cell_type == "code" and cell.source.strip()), None)
    outputs = cell.get("outputs", []) if cell else []
    data = next((output.data for output in outputs if output.output_type == "execute_result"), None)
    if cell is None or data is None:
        return {}
    if "text/html" in data:
        texts = _only_row(data["text/html"])
    else:
        texts = _pairs(data.get("text/plain", ""), cell.source)
    numbers = {name: number for name, text in texts.items() if (number := _number(text)) is not None}
    return {name: _plain(name, number) for name, number in numbers.items()} if len(numbers) <= MOST_VALUES else {}


def _pairs(text: str, source: str) -> dict[str, ast.expr | None]:
    """Return the parts of a value that a text shows: a mapping's or a series' by key, otherwise one part."""
    if series := re.fullmatch(r"(.+\n)(?:Name: .*, )?dtype: \w+", text.strip(), re.DOTALL):
        lines = (line.rsplit(None, 1) for line in series[1].splitlines())
        return {line[0]: _expression(line[1]) for line in lines if len(line) == 2}
    value = _expression(text)
    if not isinstance(value, ast.Dict):
        return {_last_name(source): value}
    keys = zip(value.keys, value.values, strict=True)
    return {str(key.value): part for key, part in keys if isinstance(key, ast.Constant)}


def _number(node: ast.expr | None) -> bool | int | float | None:
    """Return the number that an expression writes, such as `4`, `-0.5`, `nan` or `np.float64(4.0)`; None of others."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _number(node.args[0])
    if isinstance(node, ast.Name) and node.id.lower() in ("nan", "inf"):
        return float(node.id)
    try:
        value = None if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        return None
    return value if isinstance(value, (bool, int, float)) else None


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _last_name(source: str) -> str:
    """Return the name that a cell ends with.

    >>> _last_name("score = 4\\nscore"), _last_name("table.size"), _last_name("f(2)")
    ('score', 'size', 'result')
    """
    node = _expression(source.strip().splitlines()[-1])
    return getattr(node, "id", getattr(node, "attr", "result"))


def _only_row(html: str) -> dict[str, ast.expr | None]:
    """Return the cells of a table of one row by column, as pandas writes it; none of another table."""
    table = _Table()
    with suppress(AssertionError):  # what the parser raises of text that is no HTML
        table.feed(html)
    heads, rows = table.rows[:1], table.rows[1:]
    if len(rows) != 1 or len(heads[0]) != len(rows[0]):
        return {}
    return {name: _expression(text) for name, text in zip(heads[0], rows[0], strict=True) if name}


class _Table(HTMLParser):
    """The texts of a table's cells, row by row."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td") and self.rows:
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("th", "td")

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data.strip()


def readable(value: Headline) -> str:
    """Return a number as a table shows it.

    >>> readable(1200), readable(0.123456), readable(123456.7), readable(True), readable("best_fit")
    ('1,200', '0.1235', '123,457', 'true', 'best_fit')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else number(value)


def _plain(name: str, value: Any) -> Headline:
    """Return a value in one of JSON's types; a number that JSON does not know is a text."""
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if not isinstance(value, Headline):
        raise wrong_value("headline", name, "must be a number, a text, True or False", value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _displayed(node: Any) -> Iterator[Any]:
    for cell in node.cells:
        yield from (output.data for output in cell.get("outputs", []) if "data" in output)
