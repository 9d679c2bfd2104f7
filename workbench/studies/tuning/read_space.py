"""From a study file to its search space: every `{tune: ...}` becomes an axis whose range its lever declares.

A policy that is listed by its name alone has all its levers tuned over their declared ranges; one that comes with a
mapping has those tuned that the mapping says, `{nearest_boundary: {tie: {tune: true}}}`, and defaults for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.levers import Lever, Spec
from workbench.machine import Machine
from workbench.policies.from_file import is_in_file, policy_in_file
from workbench.policies.policy import Policy, policies, read_policy
from workbench.studies.tuning.dimension import Dimension, dimension, tunable
from workbench.studies.tuning.space import Fixed, Levers, Node, OneOf

TUNE = "tune"


def read_space(sweep: Sweep) -> Levers:
    """The search space of a study: what `tune` stands under in `machine`, `options` and `policy`.

    Raises
    ------
    InputError
        A policy or lever is unknown, a range is not allowed, or nothing is tuned; the sentence holds the path.
    """
    said, where = sweep.said, sweep.where
    _refuse(said.get("workload"), "vary", "workload", where, "a study has one workload")
    _refuse(said.get("workload"), TUNE, "workload", where, "the workload is what is given, not what is chosen")
    for key in ("machine", "options", "policy"):
        _refuse(said.get(key), "vary", key, where, "a study chooses with tune")
    machine = _machine(sweep, said.get("machine") or {})
    options = _levers(sweep, sweep.mechanism.engine.options, said.get("options") or {}, "options")
    policy = Levers(dict(_slots(sweep, said.get("policy") or {})))
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
    """A preset's name, or a mapping that may name a preset beside the levers."""
    if not isinstance(given, Mapping):
        return Fixed(given)
    tuned = {key: value for key, value in given.items() if _tuned(value)}
    for key in tuned:
        if key not in Machine.levers:
            raise unknown_name(at(sweep.where, "machine"), "key", key, Machine.levers)
    axes = {key: _lever(sweep, Machine.levers[key], value, f"machine.{key}") for key, value in tuned.items()}
    return Levers({**{key: Fixed(value) for key, value in given.items() if key not in tuned}, **axes})


def _levers(sweep: Sweep, cls: type[Spec], given: Any, path: str) -> Node:
    """The levers of a spec: `{tune: true}` for all of them, or a mapping."""
    if _tuned(given):
        if given[TUNE] is not True:
            raise wrong_value(sweep.where, f"{path}.tune", "must be true, which tunes every lever", given[TUNE])
        return _all(sweep, cls, path)
    if not isinstance(given, Mapping):
        expected = f"must be a mapping of {', '.join(cls.levers) or 'nothing'}"
        raise wrong_value(sweep.where, path, expected, given)
    for key in given:
        if key not in cls.levers:
            raise unknown_name(at(sweep.where, path), "key", key, cls.levers)
    return Levers({key: _lever(sweep, cls.levers[key], value, f"{path}.{key}") for key, value in given.items()})


def _all(sweep: Sweep, cls: type[Spec], path: str) -> Node:
    """Every lever that has a range of its own; the others keep their defaults."""
    ranged = {name: lever for name, lever in cls.levers.items() if tunable(lever)}
    return Levers({name: dimension(lever, True, f"{path}.{name}", sweep.where) for name, lever in ranged.items()})


def _lever(sweep: Sweep, lever: Lever, given: Any, path: str) -> Node:
    if lever.kind == "spec" and lever.spec is not None and issubclass(lever.spec, Policy):
        return _policy(sweep, lever.spec.question, given, path)
    if _tuned(given):
        return dimension(lever, given[TUNE], path, sweep.where)
    return Fixed(lever.check(given, path, sweep.where))


def _slots(sweep: Sweep, given: Any) -> Iterator[tuple[str, Node]]:
    slots = sweep.mechanism.engine.slots
    if not isinstance(given, Mapping):
        raise wrong_value(sweep.where, "policy", f"must be a mapping of {', '.join(slots)}", given)
    for slot, chosen in given.items():
        if slot not in slots:
            raise unknown_name(sweep.where, "key policy.", slot, slots)
        yield slot, _policy(sweep, sweep.mechanism.engine.asks(slot), chosen, f"policy.{slot}")


def _policy(sweep: Sweep, question: str, given: Any, path: str) -> Node:
    if not _tuned(given):
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
    """One policy with the levers that are tuned; `everything` = all of them where it is named alone."""
    if isinstance(given, Policy):
        return given.name, Fixed(read_policy(question, given, path, sweep.where))
    if isinstance(given, Mapping) and len(given) == 1:
        ((name, levers),) = given.items()
        cls = _class(sweep, question, name, path)
        return cls.name, Levers({name: _levers(sweep, cls, levers or {}, f"{path}.{cls.name}")})
    cls = _class(sweep, question, given, path)
    if everything and any(tunable(lever) for lever in cls.levers.values()):
        name = given if isinstance(given, str) else cls.name
        return cls.name, Levers({name: _all(sweep, cls, f"{path}.{cls.name}")})
    return cls.name, Fixed(given)


def _class(sweep: Sweep, question: str, given: Any, path: str) -> type[Policy]:
    if isinstance(given, str) and is_in_file(given):
        return policy_in_file(given, sweep.folder, sweep.where)
    known = policies(question)
    if isinstance(given, str) and given in known:
        return known[given]
    return type(read_policy(question, given, path, sweep.where))


def _tuned(given: Any) -> bool:
    return isinstance(given, Mapping) and list(given) == [TUNE]
