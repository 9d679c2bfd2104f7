"""The table of results as text of a width, with colors and bars in a terminal, and as HTML in a notebook."""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from workbench.statistics.result_rows import Cells, ResultBlock, ResultRow

BOLD = "*"
"""Stands before the name of a bold row, where letters have one weight."""
_MARK, _GAP = 2, 2
"""Columns of the mark with the blank behind it, and between two cells."""
_PROSE = 100
"""Columns of sentences below a table that is as wide as it is."""
_BARS_FROM, _HALF_BAR = 110, 7
"""Columns from which on there are bars, and the columns of either side of one."""
_COLORS = {"better": "green", "worse": "red"}
_HTML_COLORS = {"better": "#2e8b57", "worse": "#d0453a"}
"""Of 4:1 and more on white and on black."""


def lines(
    blocks: Sequence[ResultBlock], sentences: Sequence[str], width: int | None, is_terminal: bool = False
) -> Iterator[str]:
    """Yield the lines of a table and of the sentences below it, none wider than asked for.

    Parameters
    ----------
    width : int or None
        In columns. None adds columns, such as p-values, and wraps no row.
    is_terminal : bool
        Whether there are colors, and bars if there are enough columns.
    """
    prose = width or _PROSE
    for block in blocks:
        yield from textwrap.wrap(block.heading, prose, subsequent_indent="    ")
        yield from _block_lines(block, width, is_terminal)
    for line in sentences:
        yield from textwrap.wrap(line, prose, subsequent_indent="    ")


def _block_lines(block: ResultBlock, width: int | None, is_terminal: bool) -> Iterator[str]:
    columns = block.columns
    rows = [row.cells(block.measure) for row in block.rows]
    filled = [k for k, name in enumerate(columns) if name]
    texts = [[cells[k] for k in filled] for cells in (columns, *rows)]
    widths = _widths(texts, filled, sys.maxsize if width is None else width - _MARK)
    is_number = [columns[k] == columns.value for k in filled]
    if width is None:
        wide = block.wide_columns
        texts = [[*cells, *others] for cells, others in zip(texts, zip(*wide, strict=True), strict=True)]
        widths += [max(map(len, column)) for column in wide]
        is_number += [True] * len(wide)
    yield from _row_lines(texts[0], widths, is_number, " ", ["bold" if is_terminal else ""] * len(widths))
    has_bars = is_terminal and (width or 0) >= _BARS_FROM and any(map(_length, block.rows))
    for row, cells in zip(block.rows, texts[1:], strict=True):
        color = _color(row) if is_terminal else ""
        bold = "bold" if is_terminal and row.bold else ""
        styles = [*(bold if k < 2 else color for k in filled), *[""] * (len(widths) - len(filled))]
        first, *more = _row_lines(cells, widths, is_number, BOLD if row.bold else " ", styles, padded=has_bars)
        yield f"{first}  {_styled(_bar(row, block), color)}" if has_bars else first
        yield from more


def _widths(texts: Sequence[Sequence[str]], filled: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns: where they are too wide, verdicts are wrapped first, then names."""
    columns = [*zip(*texts, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    words = [max(len(word) for text in column for word in text.split() or [""]) for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    order = sorted(range(len(filled)), key=lambda k: _WRAPPED.index(filled[k]))
    for least in (words, [1] * len(widths)):
        for k in order:
            cut = min(max(excess, 0), max(widths[k] - least[k], 0))
            widths[k], excess = widths[k] - cut, excess - cut
    return widths


_WRAPPED = (4, 0, 3, 2, 1)
"""Columns in the order in which they are wrapped."""


def _row_lines(
    cells: Sequence[str],
    widths: Sequence[int],
    is_number: Sequence[bool],
    mark: str,
    styles: Sequence[str],
    padded: bool = False,
) -> Iterator[str]:
    parts = [textwrap.wrap(text, width, break_on_hyphens=False) or [""] for text, width in zip(cells, widths)]
    for k in range(max(map(len, parts))):
        texts = [part[k] if k < len(part) else "" for part in parts]
        line = [
            _styled(f"{text:>{width}}" if right else f"{text:<{width}}", style)
            for text, width, right, style in zip(texts, widths, is_number, styles, strict=True)
        ]
        whole = f"{mark if k == 0 else ' '}{' ' * (_MARK - 1)}{(' ' * _GAP).join(line)}"
        yield whole if padded else whole.rstrip()


def _styled(text: str, style: str) -> str:
    """Return a text as a terminal shows it in a style, without the blanks at its ends."""
    if not style or not text.strip():
        return text
    from rich.color import ColorSystem
    from rich.style import Style

    inner = text.strip()
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{Style.parse(style).render(inner, color_system=ColorSystem.STANDARD)}{after}"


def _color(row: ResultRow) -> str:
    return "" if row.verdict is None else _COLORS.get(row.verdict.side, "")


def _bar(row: ResultRow, block: ResultBlock) -> str:
    """Return a bar to the right for a better row, to the left for a worse one, as long as its share of the largest."""
    sizes = [_length(other) for other in block.rows]
    largest = max(map(abs, sizes), default=0.0)
    count = round(_HALF_BAR * _length(row) / largest) if largest else 0
    left, right = "█" * max(-count, 0), "█" * max(count, 0)
    return f"{left:>{_HALF_BAR}}│{right}"


def _length(row: ResultRow) -> float:
    if row.verdict is None or not row.has_size or not math.isfinite(row.verdict.of.size.mean):
        return 0.0
    one = row.verdict.of
    return math.log(one.size.mean) if one.is_ratio and one.size.mean > 0 else one.size.mean - one.no_effect


def html(blocks: Sequence[ResultBlock], sentences: Sequence[str]) -> str:
    """Return a table for a notebook, with the sentences below it: bold rows are bold, verdicts have a color."""
    key = [f"bold:{line[1:].replace(BOLD, 'bold')}" if line.startswith(BOLD) else line for line in sentences]
    small = "".join(f"<div>{escape(line)}</div>" for line in key)
    return f"{''.join(map(_html_block, blocks))}<small>{small}</small>"


def _html_block(block: ResultBlock) -> str:
    columns = block.columns
    filled = [k for k, name in enumerate(columns) if name]
    head = "".join(f"<th>{escape(columns[k])}</th>" for k in filled)
    body = "".join(_html_row(row, row.cells(block.measure), filled) for row in block.rows)
    caption = f'<caption style="text-align:left"><b>{escape(block.heading)}</b></caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_row(row: ResultRow, texts: Cells, filled: Sequence[int]) -> str:
    side = row.verdict.side if row.verdict is not None else ""
    color = f' style="color:{_HTML_COLORS[side]}"' if side else ""
    cells = [f"<b>{escape(text)}</b>" if row.bold and k < 3 else escape(text) for k, text in enumerate(texts)]
    colors = ["", "", color, color, color]
    return f"<tr>{''.join(f'<td{colors[k]}>{cells[k]}</td>' for k in filled)}</tr>"
