"""A figure in words, from what is drawn: axes, panels, names, and between which numbers the values lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from workbench.figures.frame import number, words
from workbench.figures.recipe import Column

_MOST_NAMES = 12
_MOST_RANGES = 6


def alt_text(description: str, sheet: Any, columns: Mapping[str, Column]) -> str:
    """Return what a figure shows, in sentences, for a reader who does not see it.

    Parameters
    ----------
    description : str
        What one sees, in a sentence.
    sheet : matplotlib Figure
        The drawn figure, whose axes, titles and legends are read.
    columns : mapping
        Exactly what is drawn.
    """
    panels = [axes for axes in sheet.axes if axes.axison]
    parts = [description.rstrip(".") + "."]
    parts += [_axes(panels)] if panels else []
    parts += list(_ranges(columns))
    return " ".join(" ".join(part.split()) for part in parts if part)


def _axes(panels: list[Any]) -> str:
    titles = list(dict.fromkeys(filter(None, (one.get_title(loc="left") or one.get_title() for one in panels))))
    across = next(filter(None, (one.get_xlabel() for one in reversed(panels))), "")
    upward = next(filter(None, (one.get_ylabel() for one in panels)), "")
    sides = [f"horizontally {across}" if across else "", f"vertically {upward}" if upward else ""]
    drawn = ", ".join(filter(None, sides))
    count = f"{len(panels)} panels" if len(panels) > 1 else "One panel"
    named = f" ({_listed(titles)})" if titles else ""
    return f"{count}{named}{f': {drawn}' if drawn else ''}."


def _ranges(columns: Mapping[str, Column]) -> Iterator[str]:
    """Yield a sentence a column: the names that it tells apart, or its least and largest number."""
    count = 0
    for name, column in columns.items():
        values = np.asarray(column)
        if values.dtype.kind in "US" or values.dtype == object:
            different = list(dict.fromkeys(words(str(value)) for value in values.tolist() if str(value)))
            if len(different) > 1 and name != "setting":  # titles of panels say it
                yield f"{words(name).capitalize()}: {_listed(different)}."
        elif values.dtype.kind in "fiu" and count < _MOST_RANGES and not name.startswith("low") and not _is_end(name):
            known = values[np.isfinite(values)] if values.dtype.kind == "f" else values
            if known.size and known.min() < known.max():
                count += 1
                yield f"{words(name).capitalize()} from {number(float(known.min()))} to {number(float(known.max()))}."


def _is_end(name: str) -> bool:
    return name.endswith(("_low", "_high")) or name.startswith("high")


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return "; ".join(" ".join(name.split()) for name in names[:_MOST_NAMES]) + more
