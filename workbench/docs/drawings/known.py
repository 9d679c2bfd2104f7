"""Every drawing by name, and those that belong to a page of the reference."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.docs.drawings import bitmap, board, decisions, directory, dispatcher, prefix_sum

DRAWINGS: dict[str, Callable[[], str]] = {
    "nearest_boundary": bitmap.nearest_boundary,
    "first_fit": bitmap.first_fit,
    "drain": bitmap.drain,
    "exact_run": bitmap.run_lengths,
    "grouped_run": dispatcher.grouped_run,
    "windows": dispatcher.windows,
    "rotated_split": dispatcher.rotated_split,
    "module_choice": dispatcher.module_choice,
    "prefix_sum": prefix_sum.corrected,
    "prefix_sum_as_written": prefix_sum.as_written,
    "one_lock": prefix_sum.one_lock,
    "directory": directory.directory,
    "protected_eviction": directory.protected_eviction,
    "served_by": directory.served_by,
    "board": board.dgx_1v,
    "best_fit_split": board.best_fit_split_drawing,
    "lending": board.lending,
    "decisions": decisions.decisions,
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
    return block(board.of_machine(one.machine(), one.title)) if one.of.name == "board" else ""


_POLICIES: dict[str, Callable[[Any], str]] = {
    "placement": bitmap.placement_steps,
    "probe": dispatcher.probe,
    "units": dispatcher.units,
    "priority": dispatcher.priorities,
    "target": board.target,
    "eviction": directory.eviction,
    "serve": prefix_sum.serve,
}
_QUESTIONS = {
    "placement": "nearest_boundary",
    "probe": "exact_run",
    "priority": "windows",
    "units": "rotated_split",
    "choice": "module_choice",
    "serve": "prefix_sum",
    "locate": "directory",
    "eviction": "protected_eviction",
    "target": "board",
}
