"""Policies that a test defines as a notebook cell would, taken back when it is over; moves without hurry."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from workbench.dashboards import paired_dashboard
from workbench.policies import policy as catalogue
from workbench.policies.placement import Placement


class OwnPolicies:
    """Defines placement policies, and forgets them."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, name: str, body: str, **levers: Any) -> type[Placement]:
        """A class with an answer of one line."""
        space: dict[str, Any] = {"__name__": "__main__"}
        exec(f"def answer(free, segments, length, params, memory):\n    {body}", space)
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
