"""A table that a notebook shows whole: every column, long words on several lines, no wider than the page."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

_STYLE = "text-align: left; vertical-align: top; overflow-wrap: anywhere"


class WholeTable(pd.DataFrame):
    """A data frame of words; what is computed of it is a plain one.

    >>> table = WholeTable({"name": ["first_fit"], "says": ["Take the lowest place. " * 9]})
    >>> table._repr_html_().count("Take the lowest place.")
    9
    """

    @property
    def _constructor(self) -> Callable[..., pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        with pd.option_context("display.max_colwidth", None):
            text = self.to_html(index=False, border=0, max_rows=None)
        return text.replace("<td>", f'<td style="{_STYLE}">').replace(
            "<table ", '<table style="width: 100%; table-layout: auto" '
        )
