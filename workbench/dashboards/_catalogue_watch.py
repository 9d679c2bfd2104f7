"""What notebook cells define while a dashboard is open: policies, laws, measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.levers import Family
from workbench.mechanisms.measures import measures_of
from workbench.mechanisms.mechanism import mechanisms
from workbench.policies.policy import policies, questions


class CatalogueWatch:
    """Calls a function after each notebook cell that defined something new, or something again; outside IPython,
    none."""

    def __init__(self, on_define: Callable[[], None]) -> None:
        self._on_define = on_define
        self._known = users_own()
        self._events = _shell_events()
        if self._events is not None:
            self._events.register("post_run_cell", self._after_cell)

    def stop(self) -> None:
        """Listen no more."""
        if self._events is not None:
            self._events.unregister("post_run_cell", self._after_cell)
            self._events = None

    def _after_cell(self, _result: object = None) -> None:
        classes = users_own()
        if classes != self._known:
            self._known = classes
            self._on_define()


def users_own() -> dict[str, Any]:
    """Return every part of a catalogue that is not of this package; run again, a cell gives its name another part."""
    catalogues: dict[str, Any] = {question: policies(question) for question in questions()}
    catalogues |= {base.noun: base.members for base in _families(Family)}
    catalogues |= {f"measure of {engine}": measures_of(engine) for engine in mechanisms()}
    return {
        f"{catalogue}/{name}": part
        for catalogue, known in catalogues.items()
        for name, part in known.items()
        if not part.built_in
    }


def _families(base: type[Family]) -> list[type[Family]]:
    families = [sub for sub in base.__subclasses__() if "members" in vars(sub)]
    return families + [inner for sub in families for inner in _families(sub)]


def _shell_events() -> Any:
    try:
        from IPython import get_ipython
    except ModuleNotFoundError:
        return None
    shell = get_ipython()
    return None if shell is None else shell.events
