"""What a venue's style asks of a bundle: its class, and the widths that an article takes where the class is missing."""

from __future__ import annotations

from typing import NamedTuple

from workbench.errors import unknown_name


class Style(NamedTuple):
    """One venue's two-column format."""

    file: str
    """The class's file; TeX looks for it when the paper is set."""
    document: str
    """Options and class."""
    text_width: str
    column_gap: str


STYLES = {
    # IEEEtran, "How to Use the IEEEtran LaTeX Class": conference mode, columns of 252 pt, 12 pt apart
    "ieee": Style("IEEEtran.cls", "[conference]{IEEEtran}", "516pt", "12pt"),
    # acmart 2, sigconf: columns of 241.15 pt, 24 pt apart
    "acm": Style("acmart.cls", "[sigconf,nonacm]{acmart}", "506.295pt", "24pt"),
}


def style(name: str) -> Style:
    """Return the style of a name.

    Raises
    ------
    InputError
        There is none of that name.

    Examples
    --------
    >>> style("iee")
    Traceback (most recent call last):
    workbench.errors.InputError: unknown style 'iee'; there are acm, ieee. Did you mean ieee?
    """
    if name not in STYLES:
        raise unknown_name("", "style", name, STYLES)
    return STYLES[name]
