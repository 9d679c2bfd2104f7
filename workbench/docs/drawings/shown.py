"""A drawing as a notebook shows it: with the colours that pages of the site take from their style sheet."""

from __future__ import annotations

import re
from typing import NamedTuple

from workbench.docs.drawings.known import DRAWINGS
from workbench.docs.folders import ROOT

_SHEET = ROOT / "docs" / "static" / "site.css"
_PAGE = "--font-stack: sans-serif; --color-background-primary: #fff; background: #fff; padding: 6px"


class Shown(NamedTuple):
    """One drawing, as the last line of a cell."""

    svg: str

    def _repr_html_(self) -> str:
        return f"<style>{_style()}</style>{self.svg}"


def shown(name: str) -> Shown:
    """Return a drawing by its name, for a notebook.

    Raises
    ------
    KeyError
        There is no drawing of that name.

    Examples
    --------
    >>> "svg.drawing .free" in shown("first_fit")._repr_html_()
    True
    """
    return Shown(DRAWINGS[name]())


def _style() -> str:
    """Return the rules of the site about drawings, with its light colours on white, which every theme can show."""
    sheet = _SHEET.read_text("utf-8")
    colours = sheet[sheet.index("body {") + 6 : sheet.index("}")]
    rules = "\n".join(re.findall(r"^svg\.drawing[^{}]*\{[^}]*\}", sheet, re.MULTILINE))
    return f"svg.drawing {{ {colours} {_PAGE} }}\n{rules}"
