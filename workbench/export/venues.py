"""Styles of venues: the width of a paper's columns, its class, and the letters of its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.errors import unknown_name, wrong_value

if TYPE_CHECKING:
    from workbench.figures.plot_style import Format


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
