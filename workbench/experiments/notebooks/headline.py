"""What a notebook says in one line: numbers that it records for the table of a batch, read from its output."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

from workbench.errors import wrong_value

MIME = "application/vnd.workbench.headline+json"
"""The key in a cell's output under which a notebook keeps its headline numbers, as pairs: files sort what has keys."""

Headline = bool | int | float | str


def headline(**values: Any) -> None:
    """Show numbers below a notebook's cell, and record them as columns of the index of a batch.

    A name that is recorded again has its last value. `workbench notebook` writes them into `index.html` and
    `index.csv`, one column a name, one row a notebook; outside a notebook they are printed.

    Parameters
    ----------
    values : numbers or texts by name
        Units go into names: `saved_percent`, `drain_cycles`.

    Raises
    ------
    InputError
        A value is no number, text, True or False.

    Examples
    --------
    >>> import workbench as wb
    >>> wb.headline(saved_percent=12.34567, policy="best_fit", runs=1200)
    saved_percent 12.35, policy best_fit, runs 1,200
    >>> wb.headline(runs=[1, 2])
    Traceback (most recent call last):
    workbench.errors.InputError: headline: runs must be a number, a text, True or False. Got [1, 2].
    """
    plain = {name: _plain(name, value) for name, value in values.items()}
    text = ", ".join(f"{name} {readable(value)}" for name, value in plain.items())
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        from IPython.display import display

        display({"text/plain": text, MIME: [[name, value] for name, value in plain.items()]}, raw=True)
    else:
        print(text)


def headlines(node: Any) -> dict[str, Headline]:
    """Return the headline numbers that an executed notebook has recorded, by name, in their first order."""
    values: dict[str, Headline] = {}
    for recorded in (output.data[MIME] for output in _displayed(node) if MIME in output.data):
        if isinstance(recorded, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in recorded):
            values.update({str(name): value for name, value in recorded if isinstance(value, Headline)})
    return values


def readable(value: Headline) -> str:
    """Return a number as a table shows it.

    >>> readable(1200), readable(0.123456), readable(123456.7), readable(True), readable("best_fit")
    ('1,200', '0.1235', '123,457', 'true', 'best_fit')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return value


def _plain(name: str, value: Any) -> Headline:
    """Return a value in one of JSON's types; a number that JSON does not know is a text."""
    if hasattr(value, "item") and getattr(value, "size", 1) == 1:
        value = value.item()
    if not isinstance(value, Headline):
        raise wrong_value("headline", name, "must be a number, a text, True or False", value)
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _displayed(node: Any) -> Iterator[Any]:
    for cell in node.cells:
        yield from (output for output in cell.get("outputs", []) if "data" in output)
