"""The numbers that people read in what is made: none of an estimate has more digits than it earns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from workbench.number_text import MOST_DIGITS

_NUMBER = re.compile(r"(?<![\w.,/:@#-])[-+−]?\d+(?:,\d{3})*\.\d+(?:e[-+]?\d+)?(?![\w/]|\.\d)")
"""A number with decimals that is no part of a name, a version or an address; whole numbers are exact."""
READ = (".tex", ".txt", ".md", ".html")
"""The endings of files for readers. Numbers in CSV and JSON are exact, and those in PGF are places of ink."""


def too_long(text: str) -> list[str]:
    """Return the numbers of a text that have more digits than an estimate may have.

    >>> too_long(r"$1.00000000000001 \\times 10^2$, 370.80000000000007, 0.000123456 and 12\\,345.678")
    ['1.00000000000001', '370.80000000000007', '12345.678']
    >>> too_long("3,661,627,392 bytes, numpy 2.1.30000000, 10.1145/3.0000000, 1,234.5 and 0.100000")
    []
    """
    return [one for one in _NUMBER.findall(text.replace("\\,", "")) if _digits(one) > MOST_DIGITS]


def _digits(number: str) -> int:
    return len(re.sub(r"\D", "", number.partition("e")[0]).lstrip("0"))


def texts_of(figure: Any) -> str:
    """Return every text of a figure as it is drawn, one a line."""
    from matplotlib.text import Text

    figure.draw_without_rendering()
    return "\n".join(text.get_text() for text in figure.findobj(Text) if text.get_visible())


def too_long_in(folder: Path) -> dict[str, list[str]]:
    """Return the numbers that are too long in the files for readers below a folder, by file."""
    files = (path for path in sorted(folder.rglob("*")) if path.suffix in READ and "inputs" not in path.parts)
    numbers = {path.relative_to(folder).as_posix(): too_long(path.read_text(encoding="utf-8")) for path in files}
    return {name: long for name, long in numbers.items() if long}
