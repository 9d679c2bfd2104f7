"""Dashboards: ipywidgets built from the levers; they show what other rooms say and compute nothing themselves."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from workbench.errors import missing_extra, unknown_name

if TYPE_CHECKING:
    from ipywidgets import Widget

DASHBOARDS = {
    name: f"workbench.dashboards.{name}:{name}_dashboard"
    for name in ("shared_memory", "dispatch", "malloc", "pool", "translation")
}
"""Each dashboard and what makes it; imported when it is first asked for."""


def dashboard(name: str = "shared_memory") -> Widget:
    """A dashboard as a widget: the last line of a notebook cell shows it.

    Parameters
    ----------
    name : str
        The engine that is turned.

    Raises
    ------
    InputError
        There is no such dashboard.
    WorkbenchError
        The optional part `dashboards` of the installation is missing.

    Examples
    --------
    >>> dashboard("dispach")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    workbench.errors.InputError: unknown dashboard 'dispach'; there are dispatch, ... Did you mean dispatch?
    """
    module, make = DASHBOARDS[check_name(name)].split(":")
    try:
        shown: Widget = getattr(importlib.import_module(module), make)()
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "anywidget":
            raise
        raise missing_extra("a dashboard", "dashboards") from None
    return shown


def check_name(name: str) -> str:
    """A dashboard's name as it is, or one sentence that names those there are."""
    if name not in DASHBOARDS:
        raise unknown_name("", "dashboard", name, DASHBOARDS)
    return name


__all__ = ["dashboard"]
