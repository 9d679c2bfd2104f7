"""A policy by name, as a sweep would write it."""

from __future__ import annotations

from typing import Any

from workbench.policies.catalogue import load_all
from workbench.policies.policy import read_policy


def policy(question: str, name: str, **levers: Any) -> Any:
    """Return a policy with some of its levers set.

    >>> policy("placement", "best_fit").place("0111100111111100", 5)
    7
    """
    load_all()
    return read_policy(question, {name: levers})
