"""Drawings that the code makes: small SVG pictures of what a policy or an engine really did.

A drawing never repeats by hand what the code decides: it asks the policy or runs the engine, and draws the reply.
`{{drawing NAME}}` on a page stands for the drawing of that name; reference pages have some of their own. A notebook
shows one with the colors that pages of the site take from their style sheet.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from workbench.docs import ROOT
from workbench.docs.drawings._concepts import concepts
from workbench.docs.drawings._dispatch import (
    admission,
    admitted,
    decisions,
    dies,
    dies_of,
    module_choice,
    priorities,
    rotated_split,
    units,
    windows,
)
from workbench.docs.drawings._free_maps import grouped_run, probe, run_lengths
from workbench.docs.drawings._malloc import (
    draw_warp_allocation,
    exclusive_prefix_sum,
    lock_acquisitions,
    patent_formula,
)
from workbench.docs.drawings._placement import drain, first_fit, nearest_boundary, placement_steps
from workbench.docs.drawings._pool import best_fit_split_drawing, dgx_1v, lending, of_machine, target
from workbench.docs.drawings._translation import directory, eviction, protected_eviction, served_by
from workbench.former_modules import renamed

DRAWINGS: dict[str, Callable[[], str]] = {
    "nearest_boundary": nearest_boundary,
    "first_fit": first_fit,
    "drain": drain,
    "exact_run": run_lengths,
    "grouped_run": grouped_run,
    "windows": windows,
    "rotated_split": rotated_split,
    "module_choice": module_choice,
    "dies": dies,
    "admission": admission,
    "prefix_sum": exclusive_prefix_sum,
    "prefix_sum_as_written": patent_formula,
    "one_lock": lock_acquisitions,
    "directory": directory,
    "protected_eviction": protected_eviction,
    "served_by": served_by,
    "board": dgx_1v,
    "best_fit_split": best_fit_split_drawing,
    "lending": lending,
    "decisions": decisions,
    "concepts": concepts,
}


def drawn(name: str) -> str:
    """Return a drawing as a block of a page.

    Raises
    ------
    KeyError
        There is no drawing of that name.
    """
    return block(DRAWINGS[name]())


def block(svg: str) -> str:
    """Return SVG as a block of Markdown that the page holds as it is."""
    return f'```{{raw}} html\n<figure class="drawing">\n{svg}\n</figure>\n```'


def of_policy(cls: type[Any]) -> str:
    """Return the drawing of a policy's page; empty where its question has none, where it needs levers of its own, and
    where it is no policy of the package: a drawing asks, and what somebody else's answers is not known to be right."""
    draw = _POLICIES.get(cls.question) if cls.__module__.startswith("workbench.") else None
    if draw is None or any(one.required for one in cls.levers.values()):
        return ""
    svg = draw(cls())
    return block(svg) if svg else ""


def of_question(question: str) -> str:
    """Return the drawing of a question's page; empty where there is none."""
    return drawn(_QUESTIONS[question]) if question in _QUESTIONS else ""


def of_preset(one: Any) -> str:
    """Return the drawing of a preset's page: a board as its cards and links."""
    return block(of_machine(one.machine(), one.title)) if one.of.name == "board" else ""


_POLICIES: dict[str, Callable[[Any], str]] = {
    "placement": placement_steps,
    "probe": probe,
    "units": units,
    "priority": priorities,
    "die": dies_of,
    "admission": admitted,
    "target": target,
    "eviction": eviction,
    "serve": draw_warp_allocation,
}
_QUESTIONS = {
    "placement": "nearest_boundary",
    "probe": "exact_run",
    "priority": "windows",
    "units": "rotated_split",
    "choice": "module_choice",
    "die": "dies",
    "admission": "admission",
    "serve": "prefix_sum",
    "locate": "directory",
    "eviction": "protected_eviction",
    "target": "board",
}

_SHEET = ROOT / "docs" / "static" / "site.css"
_LIGHT_PAGE = "--font-stack: sans-serif; --color-background-primary: #fff; background: #fff; padding: 6px"


class NotebookDrawing(NamedTuple):
    """One drawing, as the last line of a cell."""

    svg: str

    def _repr_html_(self) -> str:
        return f"<style>{_style()}</style>{self.svg}"


def drawing(name: str) -> NotebookDrawing:
    """Return a drawing by its name, for a notebook.

    Raises
    ------
    KeyError
        There is no drawing of that name.

    Examples
    --------
    >>> "svg.drawing .free" in drawing("first_fit")._repr_html_()
    True
    """
    return NotebookDrawing(DRAWINGS[name]())


def _style() -> str:
    """Return the rules of the site about drawings, with its light colors on white, which every theme can show."""
    sheet = _SHEET.read_text("utf-8")
    colours = sheet[sheet.index("body {") + 6 : sheet.index("}")]
    rules = "\n".join(re.findall(r"^svg\.drawing[^{}]*\{[^}]*\}", sheet, re.MULTILINE))
    return f"svg.drawing {{ {colours} {_LIGHT_PAGE} }}\n{rules}"


def __getattr__(word: str) -> Any:
    """Return a word of version 0.5 under its name of today, with a warning."""
    return renamed(__name__, word)
