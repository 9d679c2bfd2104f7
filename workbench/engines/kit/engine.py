"""What every engine is to the rest of the workbench: its setup, its questions and its slots.

An engine has a name, the questions it asks, its levers, and how it is run (`Engine`); `Setup` is all that a run is made
from. A slot is a decision that the engine leaves to a policy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, NamedTuple, Protocol, TypeVar, get_type_hints

from workbench.errors import InputError
from workbench.identity import FORMAT, PYTHON, current
from workbench.levers import Spec, identity_of
from workbench.machine import Described
from workbench.policies.policy import Policy
from workbench.streams import Streams


class Setup(NamedTuple):
    """Everything but the seed that determines a run, read and checked."""

    engine: str
    machine: Any
    workload: Any
    policies: Mapping[str, Policy]
    options: Spec
    code: tuple[tuple[type, str], ...] = ()
    """Each class of the user's that a setup of a plan uses, with its digest when the plan was made."""
    engine_code: str = ""
    """The digest of the user's engine when the plan was made; empty where it is part of this package."""

    def identity(self) -> dict[str, Any]:
        """Return the setup in plain types: what a run id is the digest of, with the seed and the engine's revision.

        Of the code of policies, workloads, machines and random streams it holds the digests at this moment, which may
        differ between minor versions of Python; so it names the version.
        """
        return {
            "format": FORMAT,
            "python": PYTHON,
            "engine": self.engine,
            "streams": current(Streams).digest,
            "machine": identity_of(self.machine),
            "workload": identity_of(self.workload),
            "policies": {slot: identity_of(policy) for slot, policy in sorted(self.policies.items())},
            "options": identity_of(self.options),
        }


class Engine(Protocol):
    """A simulator: one compiled loop, its questions with their default answers, its levers."""

    name: str
    revision: int
    """Raised whenever the same setup and seed give other results: part of every run id."""
    slots: Mapping[str, str]
    """The decisions that the engine asks for, each with the name of its default policy, or of the slot whose policy is
    taken where none is given."""
    options: type[Spec]

    machine: type[Described]
    """The kind of machine that it simulates."""
    workload_kind: str
    """The method of a workload that gives what this engine serves: one of `KINDS` of the package of workloads."""

    def question_of(self, slot: str) -> str:
        """Return the question that the policy of a slot answers."""

    def simulate(self, setup: Setup, seed: int, events: bool = False) -> Any:
        """Run once and return the record."""

    def validate(self, setup: Setup, seed: int) -> None:
        """Refuse, in one sentence, a setup that asks for what its machine can never give."""


@contextmanager
def at_path(path: str, name: str) -> Iterator[None]:
    """Give what is refused inside a path: `policy.locate.directory.entries` in place of `directory.entries`.

    Parameters
    ----------
    path : str
        Where the policy stands in a sweep file.
    name : str
        The policy's own name, with which its sentences begin.

    Raises
    ------
    InputError
        The same; a sentence that begins with the name begins with the path.
    """
    try:
        yield
    except InputError as wrong:
        own = re.match(rf"{re.escape(name)}(?=[\s.:\[])", str(wrong))
        if not own:
            raise
        raise InputError(path + str(wrong)[own.end() :]) from None


def at_slot(setup: Setup, slot: str) -> AbstractContextManager[None]:
    """Give what is refused of a slot's policy its path: see `at_path`."""
    name = setup.policies[slot].name
    return at_path(f"policy.{slot}.{name}", name)


Slots = TypeVar("Slots")
Options = TypeVar("Options")
Machine = TypeVar("Machine")
Record = TypeVar("Record")


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
