"""The sentence about a value that no digest can stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import InputError
from workbench.identity.owners import module_of_class


def refused(within: Sequence[str], value: Any, what: str = "", cure: str = "") -> InputError:
    """Return the refusal of a value: where it was met, under what name, and what it is.

    >>> print(refused(["MyFit", "answer", "LOG"], open(0, closefd=False)))
    MyFit.answer reads LOG, an open file: no run can be named by it; use numbers, texts, tuples or arrays instead.
    """
    *owners, name = within or ("",)
    reader = ".".join(part for part in owners[-2:] if part)
    kind = what or kind_of(value)
    return InputError(
        f"{reader or 'a policy'} reads {name or 'a value'}, {kind}: no run can be named by it; "
        f"{cure or 'use numbers, texts, tuples or arrays instead'}."
    )


def kind_of(value: Any) -> str:
    """Say what a value is, as a part of a sentence."""
    kind = type(value)
    if is_random(value):
        return f"a random generator ({kind.__name__})"
    if hasattr(value, "fileno"):
        return "an open file" if hasattr(value, "read") or hasattr(value, "write") else f"an open {kind.__name__}"
    if hasattr(value, "__next__"):
        return f"an iterator ({kind.__name__}) that is used up as it is read"
    return f"a {kind.__qualname__} of {kind.__module__}"


def is_random(value: Any) -> bool:
    """Return whether a value draws random numbers from a state of its own."""
    return any((module_of_class(base).partition(".")[0], base.__name__) in _GENERATORS for base in type(value).__mro__)


_GENERATORS = {("random", "Random"), ("numpy", "Generator"), ("numpy", "RandomState"), ("numpy", "BitGenerator")}
