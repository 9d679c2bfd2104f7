"""The search space of a study: the sweep's mapping with choices in it, one dimension a lever that is tuned.

A trial draws from it. The levers of a policy matter only in the trials that choose this policy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from workbench.experiments.saved_results import named
from workbench.identity import digest_of
from workbench.levers import Lever, Spec, identity_of
from workbench.parts import is_in_file
from workbench.policies.catalogue import policy_in_file
from workbench.policies.policy import Policy, policies, read_policy

if TYPE_CHECKING:
    import optuna


def read_space(sweep: Sweep) -> Levers:
    """Read the search space of a study: what `tune` stands under in `machine`, `options` and `policy`.

    Raises
    ------
    InputError
        A policy or lever is unknown, a range is not allowed, or nothing is tuned; the sentence holds the path.
    """
    config, where = sweep.config, sweep.where
    _refuse(config.get("workload"), "vary", "workload", where, "a study has one workload")
    _refuse(config.get("workload"), TUNE, "workload", where, "the workload is what is given, not what is chosen")
    for key in ("machine", "options", "policy"):
        _refuse(config.get(key), "vary", key, where, "a study chooses with tune")
    machine = _machine(sweep, config.get("machine") or {})
    options = read_levers(sweep, sweep.mechanism.engine.options, config.get("options") or {}, "options")
    policy = Levers(dict(_slots(sweep, config.get("policy") or {})))
    return Levers({"machine": machine, "options": options, "policy": policy})


def _refuse(node: Any, word: str, path: str, where: str, why: str) -> None:
    """Refuse a key that has no place under a node."""
    if isinstance(node, Mapping):
        if word in node:
            raise InputError(at(where, f"{path}: {word} has no place here: {why}."))
        for key, inner in node.items():
            _refuse(inner, word, f"{path}.{key}", where, why)
    if isinstance(node, (list, tuple)):
        for k, inner in enumerate(node):
            _refuse(inner, word, f"{path}[{k}]", where, why)


def _machine(sweep: Sweep, given: Any) -> Node:
    """Read a preset's name, or a mapping that may name a preset beside the levers."""
    if not isinstance(given, Mapping):
        return Fixed(given)
    tuned = {key: value for key, value in given.items() if is_tuned(value)}
    known = sweep.mechanism.engine.machine.levers
    for key in tuned:
        if key not in known:
            raise unknown_name(at(sweep.where, "machine"), "key", key, known)
    axes = {key: read_lever(sweep, known[key], value, f"machine.{key}") for key, value in tuned.items()}
    return Levers({**{key: Fixed(value) for key, value in given.items() if key not in tuned}, **axes})


def _slots(sweep: Sweep, given: Any) -> Iterator[tuple[str, Node]]:
    slots = sweep.mechanism.engine.slots
    if not isinstance(given, Mapping):
        raise wrong_value(sweep.where, "policy", f"must be a mapping of {', '.join(slots)}", given)
    for slot, chosen in given.items():
        if slot not in slots:
            raise unknown_name(sweep.where, "key policy.", slot, slots)
        yield slot, read_candidates(sweep, sweep.mechanism.engine.question_of(slot), chosen, f"policy.{slot}")


TUNE = "tune"
_ENTRIES: dict[str, Any] = {"integers": "integer", "numbers": "number"}


def is_tuned(given: Any) -> bool:
    """Return whether something is `{tune: ...}`."""
    return isinstance(given, Mapping) and list(given) == [TUNE]


def read_levers(sweep: Sweep, cls: type[Spec], given: Any, path: str) -> Node:
    """Read the levers of a spec: `{tune: true}` for all of them, or a mapping."""
    if is_tuned(given):
        if given[TUNE] is not True:
            raise wrong_value(sweep.where, f"{path}.tune", "must be true, which tunes every lever", given[TUNE])
        return _all(sweep, cls, path)
    if not isinstance(given, Mapping):
        expected = f"must be a mapping of {', '.join(cls.levers) or 'nothing'}"
        raise wrong_value(sweep.where, path, expected, given)
    for key in given:
        if key not in cls.levers:
            raise unknown_name(at(sweep.where, path), "key", key, cls.levers)
    return Levers(
        {key: read_lever(sweep, cls.levers[key], value, f"{path}.{key}") for key, value in given.items()}, cls
    )


def _all(sweep: Sweep, cls: type[Spec], path: str) -> Node:
    """Read every lever that has a range of its own; the others keep their defaults."""
    ranged = {name: lever for name, lever in cls.levers.items() if tunable(lever)}
    return Levers({name: dimension(lever, True, f"{path}.{name}", sweep.where) for name, lever in ranged.items()}, cls)


def read_lever(sweep: Sweep, lever: Lever, given: Any, path: str) -> Node:
    """Read one lever: an axis, a policy with axes of its own, a list of either, or a value."""
    policy = lever.spec if lever.spec is not None and issubclass(lever.spec, Policy) else None
    if policy is not None and lever.kind == "spec":
        return read_candidates(sweep, policy.question, given, path)
    if is_tuned(given):
        return dimension(lever, given[TUNE], path, sweep.where)
    if isinstance(given, (list, tuple)) and _holds_tune(given):
        places = [(k, one, f"{path}[{k}]") for k, one in enumerate(given)]
        if policy is not None:
            return Several(tuple(read_candidates(sweep, policy.question, one, place) for _, one, place in places))
        if lever.kind in _ENTRIES:
            return Several(tuple(read_lever(sweep, _entry(lever, k), one, place) for k, one, place in places))
    return Fixed(lever.check(given, path, sweep.where))


def _holds_tune(given: Any) -> bool:
    if isinstance(given, Mapping):
        return TUNE in given or any(_holds_tune(inner) for inner in given.values())
    return isinstance(given, (list, tuple)) and any(_holds_tune(inner) for inner in given)


def _entry(lever: Lever, place: int) -> Lever:
    """Return what one entry of a list may be: the range of the list, and the entry of its default where that is as
    long."""
    default = () if lever.required else lever.default
    given = {"default": default[place]} if place < len(default) else {"default": lever.least or 0}
    return dataclasses.replace(lever, name=f"{lever.name}[{place}]", kind=_ENTRIES[lever.kind], **given)


def read_candidates(sweep: Sweep, question: str, given: Any, path: str) -> Node:
    """Read a policy, or a choice between several, whose levers matter only when they are chosen."""
    if not is_tuned(given):
        return _candidate(sweep, question, given, path, everything=False)[1]
    items = list(policies(question)) if given[TUNE] is True else given[TUNE]
    if not isinstance(items, (list, tuple)) or not items:
        raise wrong_value(sweep.where, f"{path}.tune", f"must be true or a list of {question} policies", items)
    candidates: dict[str, Node] = {}
    for item in items:
        name, node = _candidate(sweep, question, item, path, everything=True)
        if name in candidates:
            cure = f"write one {name} with tune at its levers"
            raise InputError(at(sweep.where, f"{path}.tune names {name} twice; {cure}."))
        candidates[name] = node
    names = tuple(candidates)
    return OneOf(Dimension(path, "category", 0, 0, None, False, names, names[0]), candidates)


def _candidate(sweep: Sweep, question: str, given: Any, path: str, everything: bool) -> tuple[str, Node]:
    """Read one policy with the levers that are tuned; `everything` = all of them where it is named alone."""
    if isinstance(given, Policy):
        return given.name, Fixed(read_policy(question, given, path, sweep.where))
    if _is_a_slot(sweep, question, given, path):
        return given, Fixed(given)
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        cls = _class(sweep, question, name, path)
        return cls.name, Levers({name: read_levers(sweep, cls, levers or {}, f"{path}.{cls.name}")})
    cls = _class(sweep, question, given, path)
    if everything and any(tunable(lever) for lever in cls.levers.values()):
        name = given if isinstance(given, str) else cls.name
        return cls.name, Levers({name: _all(sweep, cls, f"{path}.{cls.name}")})
    return cls.name, Fixed(given, cls)


def _is_a_slot(sweep: Sweep, question: str, given: Any, path: str) -> bool:
    """Return whether another slot of the same question is meant: `shared_placement: placement`."""
    slots = sweep.mechanism.engine.slots
    if not isinstance(given, str) or given not in slots or not path.startswith("policy."):
        return False
    return path != f"policy.{given}" and path.count(".") == 1 and sweep.mechanism.engine.question_of(given) == question


def _class(sweep: Sweep, question: str, given: Any, path: str) -> type[Policy]:
    if isinstance(given, str) and is_in_file(given):
        return policy_in_file(given, sweep.folder, sweep.where)
    known = policies(question)
    if isinstance(given, str) and given in known:
        return known[given]
    return type(read_policy(question, given, path, sweep.where))


Kind = Literal["integer", "number", "power_of_two", "category"]
Plain = bool | int | float | str


class Dimension(NamedTuple):
    """One axis of a search space."""

    path: str
    """The dotted path in the study file; the name of the parameter in Optuna."""
    kind: Kind
    least: float
    """Of a power of two, the exponent, -1 for 0; of a category, 0."""
    most: float
    step: float | None
    log: bool
    values: tuple[Any, ...]
    """Of a category, what can be chosen."""
    start: Any
    """The lever's default where it lies in the range, else its low end: the value before anything was tuned."""

    def ask(self, trial: optuna.trial.Trial) -> Any:
        """Return the value that a trial tries."""
        if self.kind == "category":
            return self.value(trial.suggest_categorical(self.path, self.labels))
        if self.kind == "number":
            return trial.suggest_float(self.path, self.least, self.most, step=self.step, log=self.log)
        least, most, step = int(self.least), int(self.most), int(self.step or 1)
        return self.value(trial.suggest_int(self.path, least, most, step=step, log=self.log))

    def distribution(self) -> optuna.distributions.BaseDistribution:
        """Return the axis as Optuna describes it."""
        from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

        if self.kind == "category":
            return CategoricalDistribution(self.labels)
        if self.kind == "number":
            return FloatDistribution(self.least, self.most, step=self.step, log=self.log)
        return IntDistribution(int(self.least), int(self.most), step=int(self.step or 1), log=self.log)

    def parameter(self, value: Any) -> Any:
        """Return the opposite of `value`: what Optuna keeps for a value of the lever."""
        if self.kind == "category":
            return self.labels[self.values.index(value)]
        return int(value).bit_length() - 1 if self.kind == "power_of_two" else value

    def value(self, parameter: Any) -> Any:
        """Return the lever's value for a parameter as Optuna keeps it: a label of a category, an exponent of two."""
        if self.kind == "category":
            return self.values[self.labels.index(parameter)]
        if self.kind == "power_of_two":
            return 2**parameter if parameter >= 0 else 0
        return parameter

    @property
    def labels(self) -> tuple[Plain, ...]:
        """Return the values of a category as a journal can hold them."""
        return tuple(value if isinstance(value, Plain) else str(value) for value in self.values)

    def plain(self) -> dict[str, Any]:
        """Return the axis in plain types: part of what makes a study the same study."""
        return {**self._asdict(), "values": list(self.labels), "start": str(self.start)}


class Fixed(NamedTuple):
    """A value that is not tuned."""

    value: Any
    of: type[Spec] | None = None
    """The class that it names."""


class Levers(NamedTuple):
    """A mapping, some of whose values are tuned."""

    parts: Mapping[str, Node]
    of: type[Spec] | None = None
    """The class that these are levers of."""


class Several(NamedTuple):
    """A list of a fixed length, some of whose entries are tuned."""

    parts: tuple[Node, ...]


class OneOf(NamedTuple):
    """A choice of one policy, whose own levers matter only when it is chosen."""

    dimension: Dimension
    candidates: Mapping[str, Node]


Node = Fixed | Levers | Several | OneOf | Dimension
Choose = Callable[[Dimension], Any]


def draw(node: Node, choose: Choose) -> Any:
    """Return what the sweep's mapping says once `choose` has answered every dimension that matters, in order.

    >>> tie = Dimension("tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> draw(Levers({"tie": tie, "width": Fixed(3)}), lambda dimension: "high")
    {'tie': 'high', 'width': 3}
    """
    if isinstance(node, Dimension):
        return choose(node)
    if isinstance(node, Levers):
        return {name: draw(part, choose) for name, part in node.parts.items()}
    if isinstance(node, Several):
        return [draw(part, choose) for part in node.parts]
    if isinstance(node, OneOf):
        return draw(node.candidates[choose(node.dimension)], choose)
    return node.value


def dimensions(node: Node) -> Iterator[Dimension]:
    """Yield every dimension, those of policies that may not be chosen included."""
    if isinstance(node, Dimension):
        yield node
    elif isinstance(node, OneOf):
        yield node.dimension
        for candidate in node.candidates.values():
            yield from dimensions(candidate)
    elif isinstance(node, (Levers, Several)):
        for part in node.parts.values() if isinstance(node, Levers) else node.parts:
            yield from dimensions(part)


def groups(node: Node) -> Iterator[list[Dimension]]:
    """Yield the dimensions that always matter together: first those of every trial, then those of each choice.

    >>> tie = Dimension("fit.tie", "category", 0, 0, None, False, ("low", "high"), "low")
    >>> fit = tie._replace(path="fit", values=("first_fit", "best_fit"))
    >>> [[one.path for one in group] for group in groups(OneOf(fit, {"first_fit": Fixed(0), "best_fit": tie}))]
    [['fit'], [], ['fit.tie']]
    """
    own: list[Dimension] = []
    later: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, Dimension):
            own.append(one)
        elif isinstance(one, OneOf):
            own.append(one.dimension)
            later.extend(one.candidates.values())
        elif isinstance(one, (Levers, Several)):
            waiting.extend(one.parts.values() if isinstance(one, Levers) else one.parts)
    yield own
    for candidate in later:
        yield from groups(candidate)


def plain(node: Node) -> Any:
    """Return the space in plain types; two studies with the same text search the same space."""
    if isinstance(node, Dimension):
        return node.plain()
    if isinstance(node, Levers):
        return {**{name: plain(part) for name, part in node.parts.items()}, **_code(node.of)}
    if isinstance(node, Several):
        return [plain(part) for part in node.parts]
    if isinstance(node, OneOf):
        return {"one of": {name: plain(candidate) for name, candidate in node.candidates.items()}}
    value = _identified(node.value)
    return value if node.of is None else {"value": value, **_code(node.of)}


def _code(cls: type[Spec] | None) -> dict[str, str]:
    return {} if cls is None else {"code": digest_of(cls)}


def _identified(value: Any) -> Any:
    """Return a fixed value in plain types; of a spec or its class with the digest of its code."""
    if isinstance(value, Spec):
        return identity_of(value)
    if isinstance(value, type) and issubclass(value, Spec):
        return {value.name: digest_of(value)}
    return named(value)
