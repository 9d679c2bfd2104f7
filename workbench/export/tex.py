"""TeX of a bundle: templates with marks that TeX does not use, escaped text, names of macros, styles of venues."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from workbench.errors import missing_extra, unknown_name, wrong_value

if TYPE_CHECKING:
    from jinja2 import Environment

    from workbench.figures.plot_style import Format


def render(name: str, **values: Any) -> str:
    """Return a template with its values; one that is missing is an error.

    Raises
    ------
    WorkbenchError
        The optional part `export` is not installed.
    """
    return _environment().get_template(name).render(**values)


@functools.cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise missing_extra("exporting a bundle", "export") from None
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )


_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_\allowbreak{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "-": r"{-}",  # two of them would become a dash
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
    "µ": r"\textmu{}",
    "×": r"\texttimes{}",
    "·": r"\textperiodcentered{}",
    "−": r"\textminus{}",
    "≥": r"\ensuremath{\ge}",
    "≤": r"\ensuremath{\le}",
}
_LAST_KNOWN = "\u017f"
"""Latin letters up to here are in every font of ours."""


def escape(text: str) -> str:
    """Return a text as TeX source that shows the same text; a letter that TeX's fonts lack is shown by its number.

    >>> print(escape("best_fit (50 %)"), escape("^2 & more"), escape("配"))
    best\\_\\allowbreak{}fit (50 \\%) \\textasciicircum{}2 \\& more [U+914D]
    """
    return "".join(_SPECIAL.get(letter) or _letter(letter) for letter in " ".join(text.split()))


def comment(text: str) -> str:
    """Return a text as one line of a TeX comment."""
    return "% " + " ".join(text.split())


def _letter(letter: str) -> str:
    return letter if letter.isprintable() and letter <= _LAST_KNOWN else f"[U+{ord(letter):04X}]"


PREFIX = "wb"
_DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
_SIGNS = {"-": "Minus", ".": "Point", "%": "Percent"}


def letters(text: str) -> str:
    """Return a text in letters that TeX takes for a name: words begin large, digits are spelled out.

    >>> letters("nearest_boundary(tie=low)"), letters("segments = 128"), letters("fifo_lookahead(k=-0.5)")
    ('NearestBoundaryTieLow', 'SegmentsOneTwoEight', 'FifoLookaheadKMinusZeroPointFive')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z]+|\d|[-.](?=\d)|%", plain)
    return "".join(
        _DIGITS[int(word)] if word.isdigit() else _SIGNS.get(word) or word[0].upper() + word[1:] for word in words
    )


class MacroNames:
    """Hands out names; one that is taken gets a letter more.

    >>> names = MacroNames()
    >>> names.new("drain_cycles", "Mean", "best_fit"), names.new("drain_cycles", "mean", "best fit")
    ('wbDrainCyclesMeanBestFit', 'wbDrainCyclesMeanBestFitB')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, *parts: str) -> str:
        """Return a name made of parts, in order."""
        wanted = PREFIX + "".join(letters(part) for part in parts)
        name = next(name for name in (wanted + suffix for suffix in _suffixes()) if name not in self._taken)
        self._taken.add(name)
        return name


def _suffixes() -> Sequence[str]:
    one = [chr(code) for code in range(ord("B"), ord("Z") + 1)]
    return ["", *one, *(first + second for first in one for second in one)]


POINTS_AN_INCH = 72.27
"""Of TeX."""
Columns = Literal[1, 2]


class Style(NamedTuple):
    """One venue's two-column format."""

    file: str
    """The class's or package's file; TeX looks for it when the paper is set."""
    document: str
    """Options and class."""
    text_width: float
    """TeX's points."""
    column_gap: float
    family: str
    """The letters of figures: of those that come with Matplotlib the nearest to the venue's."""
    bibliography: str
    """BibTeX's style where the venue's class is there; `plain` where it is not."""
    package: str = ""
    """What the class loads, where the venue has a package instead of a class."""

    def inches(self, columns: Columns) -> float:
        """Return the width of a figure over one column or both.

        >>> round(STYLES["ieee"].inches(1), 3), round(STYLES["usenix"].inches(2), 3)
        (3.487, 7.0)
        """
        both = self.text_width
        return round((both if columns == 2 else (both - self.column_gap) / 2) / POINTS_AN_INCH, 4)

    def figures(self, columns: Columns) -> Format:
        """Return the format of its figures: captions say what small print would."""
        from workbench.figures.plot_style import Format

        return Format(self.inches(columns), self.family, notes=False)


STYLES = {
    # IEEEtran, "How to Use the IEEEtran LaTeX Class": conference mode, columns of 252 pt, 12 pt apart; Times
    "ieee": Style("IEEEtran.cls", "[conference]{IEEEtran}", 516.0, 12.0, "STIXGeneral", "IEEEtran"),
    # acmart 2, sigconf: columns of 241.15 pt, 24 pt apart; Linux Libertine, which Matplotlib lacks
    "acm": Style("acmart.cls", "[sigconf,nonacm]{acmart}", 506.295, 24.0, "STIXGeneral", "ACM-Reference-Format"),
    # usenix-2020-09.sty: text 7 in wide, columns 0.33 in apart; Times
    "usenix": Style(
        "usenix-2020-09.sty",
        "[letterpaper,twocolumn,10pt]{article}",
        505.89,
        23.85,
        "STIXGeneral",
        "plain",
        "usenix-2020-09",
    ),
}


def style(name: str, columns: int = 1) -> Style:
    """Return the style of a name.

    Parameters
    ----------
    columns : {1, 2}
        How many columns of the paper a figure is wide, which every style can have.

    Raises
    ------
    InputError
        There is none of that name, or figures are to be as wide as no paper has columns.

    Examples
    --------
    >>> style("iee")
    Traceback (most recent call last):
    workbench.errors.InputError: unknown style 'iee'; there are acm, ieee, usenix. Did you mean ieee?
    """
    if name not in STYLES:
        raise unknown_name("", "style", name, STYLES)
    if columns not in (1, 2) or isinstance(columns, bool):
        raise wrong_value("", "columns", "must be 1 or 2: how many columns of the paper a figure is wide", columns)
    return STYLES[name]
