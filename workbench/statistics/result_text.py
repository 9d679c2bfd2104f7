"""The table of results as text of a width, with colors and bars in a terminal, and as HTML in a notebook."""

from __future__ import annotations

import math
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from html import escape

from workbench.palette import BAD_WORDS, GOOD_WORDS
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
_HTML_COLORS = {"better": GOOD_WORDS, "worse": BAD_WORDS}


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
        yield from _prose(block.heading, prose)
        yield from _block_lines(block, width, is_terminal)
    for line in sentences:
        yield from _prose(line, prose)


def _prose(text: str, width: int) -> list[str]:
    return [text] if len(text) <= width else textwrap.wrap(text, width, subsequent_indent="    ")


def _block_lines(block: ResultBlock, width: int | None, is_terminal: bool) -> Iterator[str]:
    columns, *rows = block.texts
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
    lengths = [_length(row) for row in block.rows] if is_terminal and (width or 0) >= _BARS_FROM else []
    largest = max(map(abs, lengths), default=0.0)
    for k, (row, cells) in enumerate(zip(block.rows, texts[1:], strict=True)):
        color = _color(row) if is_terminal else ""
        bold = "bold" if is_terminal and row.bold else ""
        styles = [*(bold if column < 2 else color for column in filled), *[""] * (len(widths) - len(filled))]
        first, *more = _row_lines(cells, widths, is_number, BOLD if row.bold else " ", styles, padded=largest > 0)
        yield f"{first}  {_styled(_bar(lengths[k] / largest), color)}" if largest else first
        yield from more


def _widths(texts: Sequence[Sequence[str]], filled: Sequence[int], width: int) -> list[int]:
    """Return the widths of columns: where they are too wide, verdicts are wrapped first, then names."""
    columns = [*zip(*texts, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    excess = sum(widths) + _GAP * (len(widths) - 1) - width
    if excess <= 0:
        return widths
    for wrapped, readable in _STAGES:
        for column in wrapped:
            if column not in filled:
                continue
            k = filled.index(column)
            least = 1 if readable is None else max(_longest(columns[k]), readable.get(column, 0))
            cut = min(excess, max(widths[k] - least, 0))
            widths[k], excess = widths[k] - cut, excess - cut
            if not excess:
                return widths
    return widths


_STAGES: tuple[tuple[tuple[int, ...], dict[int, int] | None], ...] = (
    ((4, 0), {0: 18, 4: 20}),
    ((4, 0, 3, 2, 1), {}),
    ((4, 0, 3, 2, 1), None),
)
"""Which columns are wrapped, in order: verdicts and names while they stay readable, all between words, all anywhere."""
_BREAK = r"[\t\n\r ]+|(?<=[(,_])(?=\S)"
"""Where a cell may be wrapped: also within the name of a policy, `nearest_boundary(` and `tie=high)`."""
_AT_BREAKS = re.compile(_BREAK)


class _Wrapper(textwrap.TextWrapper):
    wordsep_simple_re = re.compile(f"({_BREAK})")


def _longest(texts: Sequence[str]) -> int:
    """Return the letters of the longest part of cells that is never broken."""
    return max(map(len, _AT_BREAKS.split(" ".join(texts))))


def _wrapped(text: str, width: int) -> list[str]:
    return [text] if len(text) <= width else _Wrapper(width, break_on_hyphens=False).wrap(text)


def _row_lines(
    cells: Sequence[str],
    widths: Sequence[int],
    is_number: Sequence[bool],
    mark: str,
    styles: Sequence[str],
    padded: bool = False,
) -> Iterator[str]:
    parts = [_wrapped(text, width) for text, width in zip(cells, widths, strict=True)]
    for k in range(max(map(len, parts))):
        texts = [part[k] if k < len(part) else "" for part in parts]
        line = [
            _styled(text.rjust(width) if right else text.ljust(width), style)
            for text, width, right, style in zip(texts, widths, is_number, styles, strict=True)
        ]
        whole = f"{mark if k == 0 else ' '}{' ' * (_MARK - 1)}{(' ' * _GAP).join(line)}"
        yield whole if padded else whole.rstrip()


def _styled(text: str, style: str) -> str:
    """Return a text as a terminal shows it in a style, without the blanks at its ends."""
    inner = text.strip()
    if not style or not inner:
        return text
    start = text.index(inner)
    return f"{text[:start]}\x1b[{_CODES[style]}m{inner}\x1b[0m{text[start + len(inner) :]}"


_CODES = {"bold": 1, "green": 32, "red": 31}
"""Of a terminal that knows eight colors (ECMA-48, SGR)."""


def _color(row: ResultRow) -> str:
    return "" if row.verdict is None else _COLORS.get(row.verdict.side, "")


def _bar(share: float) -> str:
    """Return a bar to the right for a better row, to the left for a worse one, as long as its share of the largest."""
    count = round(_HALF_BAR * share)
    left, right = "█" * max(-count, 0), "█" * max(count, 0)
    return f"{left:>{_HALF_BAR}}│{right}"


def _length(row: ResultRow) -> float:
    if row.verdict is None or not row.has_size or not math.isfinite(row.verdict.of.size.mean):
        return 0.0
    one = row.verdict.of
    return math.log(one.size.mean) if one.is_ratio and one.size.mean > 0 else one.size.mean - one.no_effect


def html(blocks: Sequence[ResultBlock], sentences: Sequence[str]) -> str:
    """Return a table for a notebook, with the sentences below it: bold rows are bold, verdicts have a color."""
    key = [line.replace(f"{BOLD}:", "bold:") for line in sentences]
    small = "".join(f"<div>{escape(line)}</div>" for line in key)
    return f"{''.join(map(_html_block, blocks))}<small>{small}</small>"


def _html_block(block: ResultBlock) -> str:
    columns, *rows = block.texts
    filled = [k for k, name in enumerate(columns) if name]
    head = "".join(f"<th>{escape(columns[k])}</th>" for k in filled)
    body = "".join(_html_row(row, cells, filled) for row, cells in zip(block.rows, rows, strict=True))
    caption = f'<caption style="text-align:left"><b>{escape(block.heading)}</b></caption>'
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_row(row: ResultRow, texts: Cells, filled: Sequence[int]) -> str:
    side = row.verdict.side if row.verdict is not None else ""
    color = f' style="color:{_HTML_COLORS[side]}"' if side else ""
    cells = [f"<b>{escape(text)}</b>" if row.bold and k < 3 else escape(text) for k, text in enumerate(texts)]
    colors = ["", "", color, color, color]
    return f"<tr>{''.join(f'<td{colors[k]}>{cells[k]}</td>' for k in filled)}</tr>"
