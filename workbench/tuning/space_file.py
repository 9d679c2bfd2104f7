"""The search space as a study file writes it: every `{tune: ...}` of its machine, options and policies.

Every `{tune: ...}`, at any depth, becomes a dimension whose range its lever declares. A policy that is listed by its
name alone has all its levers tuned over their declared ranges. One that comes with a mapping has those tuned that the
mapping names, `{nearest_boundary: {tie: {tune: true}}}`, and defaults for the rest. Inside a list every entry is a
place of its own: `weights: [1, {tune: {least: 0, most: 4}}]` is a list of two numbers of which the second is tuned,
and `choices: [most_residual, {tune: true}]` one of two policies of which the second is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.levers import Lever, Spec
from workbench.parts import is_in_file
from workbench.policies.catalogue import policy_in_file
from workbench.policies.policy import Policy, policies, read_policy
from workbench.tuning.dimension import ENTRY_KINDS, Dimension, dimension, tunable
from workbench.tuning.space import Fixed, Levers, Node, OneOf, Several

TUNE = "tune"


def read_space(sweep: Sweep) -> Levers:
    """Read the search space of a study: what `tune` stands under in `machine`, `options` and `policy`.

    Raises
    ------
    InputError
        A policy or lever is unknown, a range is not allowed, or nothing is tuned; the sentence holds the path.
    """
    config, where = sweep.config, sweep.where
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
    """Read a preset's name, or a mapping that may name a preset next to the levers."""
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
    if isinstance(given, (list, tuple)) and holds_tune(given):
        places = [(k, one, f"{path}[{k}]") for k, one in enumerate(given)]
        if policy is not None:
            return Several(tuple(read_candidates(sweep, policy.question, one, place) for _, one, place in places))
        if lever.kind in ENTRY_KINDS:
            return Several(tuple(read_lever(sweep, _entry(lever, k), one, place) for k, one, place in places))
    return Fixed(lever.check(given, path, sweep.where))


def holds_tune(given: Any) -> bool:
    """Return whether something is tuned at any depth."""
    if isinstance(given, Mapping):
        return TUNE in given or any(holds_tune(inner) for inner in given.values())
    return isinstance(given, (list, tuple)) and any(holds_tune(inner) for inner in given)


def _entry(lever: Lever, place: int) -> Lever:
    """Return the range of one entry of a list: the range of the list, and the entry of its default where that is as
    long."""
    default = () if lever.required else lever.default
    given = {"default": default[place]} if place < len(default) else {"default": lever.least or 0}
    return dataclasses.replace(lever, name=f"{lever.name}[{place}]", kind=ENTRY_KINDS[lever.kind], **given)


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


def candidate_name(sweep: Sweep, question: str, given: Any, path: str) -> str:
    """Return the name of a policy as a list of candidates writes it: a name, a mapping of levers, or a value.

    Raises
    ------
    InputError
        It is no policy of the question.
    """
    name = next(iter(given)) if isinstance(given, Mapping) and len(given) == 1 else given
    return _class(sweep, question, name, path).name


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
