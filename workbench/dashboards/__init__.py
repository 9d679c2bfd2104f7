"""Dashboards: ipywidgets built from the levers; they show what other packages compute."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import missing_extra, no_file, unknown_name, wrong_value
from workbench.mechanisms.catalogue import OWN, brought
from workbench.parts import Guests, Registry, attribute, entered_by_file, is_in_file

if TYPE_CHECKING:
    from ipywidgets import Widget

DASHBOARDS: Registry[Callable[[], Widget]] = Registry(
    "dashboard",
    later={name: attribute(one.dashboard) for name, one in OWN.items() if one.dashboard},
    guests=Guests("dashboard", callable, named_by="", more=lambda: brought("dashboard", "dashboard")),
)
"""What makes each dashboard; imported when it is first asked for."""


def add_dashboard(name: str, make: Callable[[], Widget]) -> None:
    """Enter a user's dashboard: `dashboard(name)` and `workbench open dashboard FILE.py:NAME` then show it.

    Parameters
    ----------
    name : str
        A new name, or that of one of the user's, which it replaces.
    make : callable
        Without arguments, gives the widget.

    Raises
    ------
    InputError
        The workbench has a dashboard of that name, or what makes it cannot be called.

    Examples
    --------
    >>> add_dashboard("mine", 3)
    Traceback (most recent call last):
    workbench.errors.InputError: the dashboard mine must be a function that gives a widget. Got 3.
    """
    if not callable(make):
        raise wrong_value("", f"the dashboard {name}", "must be a function that gives a widget", make)
    DASHBOARDS.join(name, make)


def dashboard(name: str = "shared_memory") -> Widget:
    """Make a dashboard as a widget: the last line of a notebook cell shows it.

    Parameters
    ----------
    name : str
        The engine that is turned, or one that was added; `FILE.py:NAME` for one that a file adds. Or what its page is
        opened with: a sweep file, a results folder, or that of a tuning study, whose front is shown.

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
    known = check_name(name)
    try:
        widget: Widget = _opened(name) if is_saved(name) else DASHBOARDS.find(known)()
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != "anywidget":
            raise
        raise missing_extra("a dashboard", "dashboards") from None
    return widget


def _opened(name: str) -> Widget:
    from workbench.dashboards._dashboard_config import extra_compared_slots
    from workbench.dashboards._saved_sweep import read_saved

    saved = read_saved(name)
    with extra_compared_slots(saved.differing):
        page = DASHBOARDS.find(saved.engine)()
    page.open_with(saved)
    return page


def is_saved(name: str) -> bool:
    """Return whether a name is that of a file or a folder that a page can be opened with.

    >>> is_saved("sweeps/placement/drain.yaml"), is_saved("dispatch"), is_saved("mine.py:mine")
    (True, False, False)
    """
    return Path(name).suffix in (".yaml", ".yml") or Path(name).is_dir()


def check_name(name: str) -> str:
    """Return a dashboard's name, of `FILE.py:NAME` that which the file adds; else one sentence."""
    if is_saved(name):
        from workbench.dashboards._saved_sweep import read_saved

        name = read_saved(name).engine
    elif os.sep in name and not is_in_file(name):
        raise no_file(name)
    name = entered_by_file(name, Path(), "", "dashboard")
    if name not in DASHBOARDS.names():
        raise unknown_name("", "dashboard", name, DASHBOARDS.names())
    return name
