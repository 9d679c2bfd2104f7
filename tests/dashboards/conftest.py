"""Policies that a test defines as a notebook cell would, taken back in the end; moves without hurry; pages unseen."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest
from ipywidgets import Widget, comm

from workbench.dashboards import _paired_dashboard as paired_dashboard
from workbench.policies import policy as catalogue
from workbench.policies.placement import Placement


class OwnPolicies:
    """Defines placement policies, and forgets them."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, name: str, body: str, **levers: Any) -> type[Placement]:
        """A class with an answer of one line."""
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def answer(see):\n    {body}", space)
        annotations = dict.fromkeys(levers, int)
        members = {"answer": space["answer"], "__annotations__": annotations, "__module__": "__main__", **levers}
        made: type[Placement] = type(name, (Placement,), members)
        self.names.add(made.name)
        return made

    def forget(self) -> None:
        for name in self.names:
            catalogue._CATALOGUE["placement"].pop(name, None)


@pytest.fixture
def own_policy() -> Iterator[OwnPolicies]:
    made = OwnPolicies()
    yield made
    made.forget()


@pytest.fixture(autouse=True)
def no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every move do all of its runs at once, on a busy machine too; tests of coarse pictures say otherwise."""
    monkeypatch.setattr(paired_dashboard, "COARSE_SECONDS", 600.0)


@pytest.fixture(autouse=True)
def few_proposals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an advice rest on few settings beside the grid: how many Optuna proposes is no matter to a page."""
    monkeypatch.setattr("workbench.advice.torch_memory.advice.TRIALS", 4)


OPENED_WHOLE = Widget.open


def _open_unseen(widget: Widget) -> None:
    """Open a widget as it is opened where a page looks, but write down none of its state, nor make what that would."""
    if widget.comm is None:
        named = {} if widget._model_id is None else {"comm_id": widget._model_id}
        opened = comm.create_comm(target_name="jupyter.widget", data={}, **named)
        opened.kernel = None  # a widget sends no change where there is none
        widget.comm = opened


@pytest.fixture(autouse=True, scope="module")
def unseen() -> Iterator[None]:
    """Nobody looks at the pages of these tests: the state that a new widget sends is four fifths of a page's cost."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Widget, "open", _open_unseen)
        yield


@pytest.fixture
def sent_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every widget send its whole state, as where a page looks."""
    monkeypatch.setattr(Widget, "open", OPENED_WHOLE)


@pytest.fixture
def two_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the pages that play long runs open with two seeds, where it is no matter how many there are."""
    for name in ("dispatch", "pool"):
        room = importlib.import_module(f"workbench.dashboards._{name}")
        monkeypatch.setattr(room, "CONFIG", room.CONFIG._replace(seeds=2))
