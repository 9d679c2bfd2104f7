"""A policy is one frozen, validated value that answers a question; its levers are its fields.

The catalogue knows every policy by question and name. A class joins it by being defined, in a file of this package or
in a notebook cell; a cell that is run again replaces its earlier definition, and nobody replaces a built-in one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from workbench.errors import InputError, PolicyError, at, unknown_name, wrong_value
from workbench.levers import Spec, read_spec

_CATALOGUE: dict[str, dict[str, type[Policy]]] = {}


class Policy(Spec):
    """The base of every policy: levers, parameters for compiled code, memory, a place in the catalogue."""

    question: ClassVar[str] = ""
    answer: ClassVar[Callable[..., int] | None] = None
    draws: ClassVar[bool] = False
    """Whether the policy draws random numbers, so that seeds differ even where the requests do not."""

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not abstract:
            _enter(cls)

    def function(self) -> Callable[..., int]:
        """The plain function that answers, which may depend on the levers."""
        found = type(self).answer
        if found is None:
            raise PolicyError(f"{self.name} has no answer: define `def answer(...)` in its class.")
        return found

    def parameters(self) -> np.ndarray:
        """The levers as the answer sees them: float64[levers], in the order of declaration."""
        return np.array(self.numbers() or [0.0])

    @classmethod
    def read(cls, given: object, path: str = "", where: str = "") -> Self:
        """The policy that a lever holds, written as in a sweep file: `best_fit` or `{nearest_boundary: {tie: low}}`."""
        found = read_policy(cls.question, given, path, where)
        if not isinstance(found, cls):
            raise wrong_value(where, path or cls.question, f"must be {cls.name}", given)
        return found

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """The JSON schema of the levers; of the base of a question, that of a policy's name with its levers."""
        names = list(policies(cls.question))
        if cls.name in names:
            return super().schema()
        one = {"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"enum": names}}
        return {"anyOf": [{"enum": names}, one]}


def policies(question: str) -> Mapping[str, type[Policy]]:
    """Every policy that answers a question, by name."""
    return dict(sorted(_CATALOGUE.get(question, {}).items()))


def questions() -> list[str]:
    """Every question that has an answer."""
    return sorted(_CATALOGUE)


def read_policy(question: str, given: object, path: str = "", where: str = "") -> Policy:
    """The policy that a sweep file names: `best_fit`, `{nearest_boundary: {tie: low}}`, or a policy or class as it is.

    Raises
    ------
    InputError
        The name or a lever is unknown, or a value is not allowed; the message holds the path.
    """
    if isinstance(given, Policy):
        return _of_question(question, given, path, where)
    if isinstance(given, type) and issubclass(given, Policy):
        return _of_question(
            question, read_spec(given, {}, f"{path}.{given.name}" if path else given.name, where), path, where
        )
    name, levers = _name_and_levers(question, given, path, where)
    found = _CATALOGUE.get(question, {}).get(name)
    if found is None:
        raise unknown_name(at(where, path), f"{question} policy", name, _CATALOGUE.get(question, {}))
    built: Policy = read_spec(found, levers, f"{path}.{name}" if path else name, where)
    return built


def _of_question(question: str, given: Policy, path: str, where: str) -> Policy:
    if given.question != question:
        raise wrong_value(where, path or question, f"must be a {question} policy", given)
    return given


def _name_and_levers(question: str, given: object, path: str, where: str) -> tuple[str, object]:
    if isinstance(given, str):
        return given, {}
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        return str(name), {} if levers is None else levers
    raise wrong_value(where, path or question, f"must name one {question} policy", given)


def _enter(cls: type[Policy]) -> None:
    room = _CATALOGUE.setdefault(cls.question, {})
    before = room.get(cls.name)
    if before is not None and before.built_in and before.__qualname__ != cls.__qualname__:
        raise InputError(f"{cls.name} is already a {cls.question} policy of the workbench; choose another class name.")
    if before is not None and before.built_in and not cls.built_in:
        raise InputError(f"{cls.name} is already a {cls.question} policy of the workbench; choose another class name.")
    room[cls.name] = cls
