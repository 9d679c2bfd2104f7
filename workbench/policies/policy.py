"""A policy is one frozen, validated value that answers a question; its levers are its fields.

The catalogue knows every policy by question and name. A class joins it by being defined, in a file of this package or
in a notebook cell. A cell that is run again replaces its earlier definition; a built-in class cannot be replaced.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from workbench.compiled import NO_ANSWER, Answer
from workbench.errors import InputError, PolicyError, at, wrong_value
from workbench.levers import Spec, read_spec
from workbench.parts.registry import Guests, Registry

_CATALOGUE: dict[str, Registry[type[Policy]]] = {}


class Policy(Spec):
    """The base of every policy: levers, parameters for compiled code, memory, a place in the catalogue."""

    question: ClassVar[str] = ""
    asks: ClassVar[Any] = None
    """The question as engines ask it (`workbench.compiled.Question`), None where it is not asked in compiled code."""
    tells: ClassVar[Mapping[str, Any]] = {}
    """Further functions that a policy may define, each with the question that engines call it by."""
    answer: ClassVar[Callable[..., Any] | None] = None
    draws: ClassVar[bool] = False
    """Whether the policy draws random numbers, so that seeds differ even where the requests do not."""

    def __init_subclass__(cls, abstract: bool = False, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if taken := [name for name in cls.levers if name in vars(Policy)]:
            raise InputError(f"{cls.name}.{taken[0]}: a lever may not be called so, for every policy has a {taken[0]}.")
        if not abstract:
            registry_of(cls.question).joined(cls)

    def function(self) -> Callable[..., int]:
        """Return the plain function that answers, which may depend on the levers."""
        result = type(self).answer
        if result is None:
            raise PolicyError(f"{self.name} has no answer: define `def answer(...)` in its class.")
        return result

    def notice(self, name: str) -> Callable[..., Any] | None:
        """Return the plain function that is told of something, None where the policy need not be."""
        result: Callable[..., Any] | None = getattr(type(self), name)
        return result

    def speakers(self) -> Sequence[Policy]:
        """Return the policies whose functions answer for this one: itself, unless it is made of others."""
        return (self,)

    def functions(self, question: str) -> list[tuple[Callable[..., int], Any]]:
        """Return its functions that are called by a question's name, each with that question."""
        if self.asks is not None and question == self.asks.name:
            return [(self.function(), self.asks)]
        named = ((getattr(type(self), name), asks) for name, asks in self.tells.items() if asks.name == question)
        return [(function, asks) for function, asks in named if function is not None]

    def plain_answer(self, function: Callable[..., int] | None = None, asks: Any = None) -> Callable[[Any], int]:
        """Return the answer, or another function of the policy, as a plain function of the view it takes."""
        return (asks or type(self).asks).plain(function or self.function(), self.lever_kinds())

    def ready_answer(self, checked: bool = False) -> Answer:
        """Return the answer as engines hold it."""
        return self.asks.ready(self.function(), checked, self.lever_kinds())

    def ready_notice(self, name: str, checked: bool = False) -> Answer:
        """Return the notice as engines hold it; `NO_ANSWER` where there is none."""
        reply = self.notice(name)
        return NO_ANSWER if reply is None else self.tells[name].ready(reply, checked, self.lever_kinds())

    def tell(self, name: str, notice: Any) -> None:
        """Tell of something in plain Python, if the policy wants to know."""
        if (reply := self.notice(name)) is not None:
            self.plain_answer(reply, self.tells[name])(notice)

    def parameters(self) -> np.ndarray:
        """Return the levers as the answer sees them: float64[levers], in the order of declaration."""
        return np.array(self.numbers() or [0.0])

    def lever_kinds(self) -> tuple[tuple[str, str], ...]:
        """Return the name and the kind of each lever that the answer reads by name, in the order of `parameters`.

        There are none where `parameters` says more than the levers; a policy that answers with another one's function
        has that one's.
        """
        if type(self).parameters is not Policy.parameters:
            return ()
        return self.scalars

    @classmethod
    def read(cls, given: object, path: str = "", where: str = "") -> Self:
        """Read the policy that a lever holds, written as in a sweep file: `best_fit` or `{nearest_boundary: {tie:
        low}}`."""
        policy = read_policy(cls.question, given, path, where)
        if not isinstance(policy, cls):
            raise wrong_value(where, path or cls.question, f"must be {cls.name}", given)
        return policy

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of the levers; of the base of a question, that of a policy's name with its levers."""
        names = list(policies(cls.question))
        if cls.name in names:
            return super().schema()
        one = {"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"enum": names}}
        return {"anyOf": [{"enum": names}, one]}


def base_of(question: str) -> type[Policy]:
    """Return the class that a policy which answers a question is derived from."""
    one = next(iter(_CATALOGUE[question].values()))
    return next(cls for cls in one.__mro__ if "question" in vars(cls))


def policies(question: str) -> Mapping[str, type[Policy]]:
    """Return every policy that answers a question, by name."""
    return dict(sorted(_CATALOGUE[question].all().items())) if question in _CATALOGUE else {}


def questions() -> list[str]:
    """Return every question that has an answer."""
    return sorted(question for question, room in _CATALOGUE.items() if room)


def registry_of(question: str) -> Registry[type[Policy]]:
    """Return the registry of the policies that answer a question."""
    if question not in _CATALOGUE:
        guests = Guests[type[Policy]]("policy", _is_policy, within=question, within_by="question")
        _CATALOGUE[question] = Registry("policy", f"{question} policy", named_by="class name", guests=guests)
    return _CATALOGUE[question]


def exported(room: str) -> dict[str, type[Spec]]:
    """Import every module of a package, and return its policies, and what their levers are made of, by class name.

    A name that two modules have is of neither.

    >>> "FirstFit" in exported("workbench.policies.placement"), "Random" in exported("workbench.policies.translation")
    (True, False)
    """
    folder = importlib.import_module(room).__path__
    modules = [importlib.import_module(one.name) for one in pkgutil.walk_packages(folder, f"{room}.")]
    named = [(module.__name__, *one) for module in modules for one in vars(module).items() if isinstance(one[1], type)]
    own = [(name, cls) for module, name, cls in named if (cls.__module__, cls.__name__) == (module, name)]
    times = Counter(name for name, _ in own)
    return {name: cls for name, cls in own if issubclass(cls, Spec) and times[name] == 1 and name[0] != "_"}


def read_policy(question: str, given: object, path: str = "", where: str = "") -> Policy:
    """Read the policy that a sweep file names: `best_fit`, `{nearest_boundary: {tie: low}}`, or a policy or class as it
    is.

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
    policy = registry_of(question).find(name, at(where, path))
    return read_spec(policy, levers, f"{path}.{name}" if path else name, where)


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


def _is_policy(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Policy)
