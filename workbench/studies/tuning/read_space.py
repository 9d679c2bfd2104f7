"""From a study file to its search space: every `{tune: ...}` becomes an axis whose range its lever declares.

A policy that is listed by its name alone has all its levers tuned over their declared ranges; one that comes with a
mapping has those tuned that the mapping says, `{nearest_boundary: {tie: {tune: true}}}`, and defaults for the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.errors import InputError, at, unknown_name, wrong_value
from workbench.experiments.sweep import Sweep
from workbench.studies.tuning.read_levers import TUNE, is_tuned, read_candidates, read_lever, read_levers
from workbench.studies.tuning.space import Fixed, Levers, Node


def read_space(sweep: Sweep) -> Levers:
    """Read the search space of a study: what `tune` stands under in `machine`, `options` and `policy`.

    Raises
    ------
    InputError
        A policy or lever is unknown, a range is not allowed, or nothing is tuned; the sentence holds the path.
    """
    config, where = sweep.said, sweep.where
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
