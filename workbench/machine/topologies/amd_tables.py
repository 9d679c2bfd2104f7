"""Square tables that AMD's tools print: a title, a line that names the columns, a row a GPU."""

from __future__ import annotations

import re
from collections.abc import Iterator

from workbench.errors import InputError, shown

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
Table = dict[tuple[str, str], str]
"""The cell of a row and a column, by their names."""


def lines_of(text: bytes) -> list[str]:
    """Return the lines of a text, without colours and blanks behind them."""
    return [_COLOUR.sub("", line).rstrip() for line in text.decode(errors="replace").lstrip("\ufeff").splitlines()]


def tables(
    lines: list[str], title: re.Pattern[str], name: re.Pattern[str], where: str
) -> Iterator[tuple[str, list[str], Table]]:
    """Yield every table: its title, the names of its columns, its cells.

    Parameters
    ----------
    title : pattern
        Matches the line of a title; its first group is the title.
    name : pattern
        Matches the name of a row or a column.

    Raises
    ------
    InputError
        A row is missing, or has not as many cells as there are columns.
    """
    for k, line in enumerate(lines):
        match = title.match(line)
        names = lines[k + 1].split() if match and k + 1 < len(lines) else []
        if match and names and all(name.fullmatch(column) for column in names):
            yield match[1], names, _cells(match[1], names, lines[k + 2 : k + 2 + len(names)], where)


def _cells(title: str, names: list[str], rows: list[str], where: str) -> Table:
    cells: Table = {}
    for k, row in enumerate(names):
        told = rows[k].split() if k < len(rows) else []
        if not told or told[0] != row:
            raise InputError(f"{where}: {title}: the row of {row} is missing; the output is cut off.")
        if len(told) != len(names) + 1:
            raise InputError(
                f"{where}: {title}: the row of {row} must have {len(names)} values. Got {shown(' '.join(told[1:]))}."
            )
        cells.update({(row, column): cell for column, cell in zip(names, told[1:])})
    return cells


def whole(cell: str) -> int | None:
    """Return a cell as a whole number, None where it is none, such as N/A.

    >>> whole("15"), whole("N/A")
    (15, None)
    """
    return int(cell) if cell.isascii() and cell.isdigit() and len(cell) < 10 else None
