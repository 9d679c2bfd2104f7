"""The decisions that an engine asks for: each slot declared once, with the type of its policies and its default."""

from __future__ import annotations

from functools import cache
from typing import Any, TypeVar, get_type_hints

from workbench.engines.engine import Setup

Slots = TypeVar("Slots")


def slot(default: str) -> Any:
    """Declare the default of a slot at its field: the name of a policy, or of the slot whose policy is taken.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from workbench.policies.placement import Placement
    >>> class Slots(NamedTuple):
    ...     placement: Placement = slot("nearest_boundary")
    ...     shared_placement: Placement = slot("placement")
    >>> defaults_of(Slots)
    {'placement': 'nearest_boundary', 'shared_placement': 'placement'}
    """
    return default


def defaults_of(slots: Any) -> dict[str, str]:
    """Return the default of each slot, by name."""
    return dict(slots._field_defaults)


def question_of(slots: Any, name: str) -> str:
    """Return the question that the policy of a slot answers: its type's."""
    return _questions(slots)[name]


@cache
def _questions(slots: Any) -> dict[str, str]:
    return {name: str(kind.question) for name, kind in get_type_hints(slots).items()}


def filled(slots: type[Slots], setup: Setup) -> Slots:
    """Return the policies of a setup, each with the type of its slot."""
    return slots(*map(setup.policies.__getitem__, getattr(slots, "_fields", ())))
