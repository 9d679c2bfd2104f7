"""TeX of a bundle: templates with marks that TeX does not use, and escaped text."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import missing_extra

if TYPE_CHECKING:
    from jinja2 import Environment


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
